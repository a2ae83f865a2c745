import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { DocCollection } from "../../shared/store/store.js";
import { placeOf } from "../objects/secrets.js";
import type { ObjectRecord } from "../record.js";
import { BUILT_IN, createBuiltInEmbedder } from "./built-in-embedder.js";
import { type Embedder, EmbedderError, type Embedders, type EmbeddingIntegration } from "./embedder.js";
import { createEmbeddingAgent, createOpenAiEmbedder } from "./openai-embedder.js";

/** What is read of an integration. */
interface Integration extends ObjectRecord {
  readonly endpoint: string;
  readonly models: readonly string[];
  readonly sealed: string;
}

const PROJECTION = { name: 1, origin: 1, owner: 1, acl: 1, etag: 1 };

/** The built-in model, and those of integrations: theirs have the id integration/model. */
export function createEmbedders(
  collection: DocCollection<ObjectRecord>,
  seal: Seal,
  outgoing: OutgoingPolicy,
): Embedders {
  const builtIn = createBuiltInEmbedder();
  const agent = createEmbeddingAgent(outgoing);
  const integrations = collection as unknown as DocCollection<Integration>;

  async function ofIntegration(id: string, given: string): Promise<Embedder> {
    const found = await integrations.findOne({ _id: id });
    if (found === null) throw new EmbedderError("its integration is gone", false);
    const { name, endpoint, enabled, sealed, models } = found;
    if (!enabled) throw new EmbedderError(`the integration ${name} is disabled`, false);
    const model = given === "" ? models[0]! : given;
    const credential = sealed === "" ? "" : seal.open(sealed, placeOf({ plural: "integrations" }, id, "sealed"));
    return createOpenAiEmbedder(agent, { id: `${id}/${model}`, name, endpoint, model, credential });
  }

  return {
    async of({ integrations: [id], embedding_model }) {
      return id === undefined ? builtIn : ofIntegration(id, embedding_model);
    },
    async byId(id) {
      if (id === BUILT_IN) return builtIn;
      return ofIntegration(integrationIn(id), id.slice(id.indexOf("/") + 1));
    },
    async endpointsOf(ids) {
      const outside = ids.filter((id) => id !== BUILT_IN);
      if (outside.length === 0) return new Map();
      const found = await integrations
        .find({ _id: { $in: [...new Set(outside.map(integrationIn))] } }, { projection: PROJECTION })
        .toArray();
      const known = new Map<string, EmbeddingIntegration>(found.map((one) => [one._id, one]));
      return new Map(
        outside.flatMap((id) => (known.has(integrationIn(id)) ? [[id, known.get(integrationIn(id))!]] : [])),
      );
    },
    async close() {
      await builtIn.close();
      await agent.destroy();
    },
  };
}

/** The integration in the id of an embedder. */
function integrationIn(id: string): string {
  return id.slice(0, id.indexOf("/"));
}
