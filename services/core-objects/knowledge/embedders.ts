import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { DocCollection } from "../../shared/store/store.js";
import { placeOf } from "../objects/secrets.js";
import type { ObjectRecord } from "../record.js";
import { BUILT_IN, createBuiltInEmbedder } from "./built-in-embedder.js";
import { type Embedder, EmbedderError, type Embedders } from "./embedder.js";
import { createEmbeddingAgent, createOpenAiEmbedder } from "./openai-embedder.js";

/** What is read of an integration. */
interface Integration extends ObjectRecord {
  readonly endpoint: string;
  readonly models: readonly string[];
  readonly sealed: string;
}

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
      const slash = id.indexOf("/");
      return ofIntegration(id.slice(0, slash), id.slice(slash + 1));
    },
    async close() {
      await builtIn.close();
      await agent.destroy();
    },
  };
}
