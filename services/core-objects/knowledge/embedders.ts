import type { Isolation } from "../../shared/isolation/isolation.js";
import type { MisbehavedError } from "../../shared/isolation/misbehaved.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import type { Processes } from "../../shared/process/processes.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { Connecting } from "../objects/connection.js";
import { leftOut } from "../objects/left-out.js";
import { placeOf } from "../objects/secrets.js";
import { BUILT_IN, createBuiltInEmbedder } from "./built-in-embedder.js";
import { type Embedder, EmbedderError, type Embedders, type EmbeddingIntegration } from "./embedder.js";
import { createOpenAiEmbedder } from "./openai-embedder.js";
import { type Prefixes, type PrefixSetting, prefixesOf } from "./prefixes.js";

/** What is read of an integration. */
interface Integration extends Connecting {
  readonly endpoint: string;
  readonly models: readonly string[];
  readonly sealed: string;
}

/** How endpoints of embeddings are reached. */
export interface EmbedderParts {
  readonly seal: Seal;
  readonly isolation: Isolation;
  readonly processes: Processes;
  readonly outgoing: OutgoingPolicy;
  /** What stands before questions and passages, by model, where it is not as known. */
  readonly prefixes?: PrefixSetting | undefined;
  /** Leaves an integration out whose endpoint passed a bound. */
  leaveOut(integration: string, error: MisbehavedError): Promise<void>;
}
const PROJECTION = { name: 1, origin: 1, owner: 1, acl: 1, etag: 1 };

/**
 * The built-in model, and those of integrations: theirs have the id integration/model, and in lines of their own what
 * stands before questions and passages, as JSON. So what was embedded with other prefixes, or without any, is another
 * embedder's, and is asked as it was embedded.
 */
export function createEmbedders(
  collection: DocCollection<Connecting>,
  { seal, isolation, processes, outgoing: policy, leaveOut, prefixes: setting }: EmbedderParts,
): Embedders {
  const builtIn = createBuiltInEmbedder(processes);
  const integrations = collection as unknown as DocCollection<Integration>;

  async function ofIntegration(id: string, given: string, asked?: Prefixes | "none"): Promise<Embedder> {
    const found = await integrations.findOne({ _id: id });
    if (found === null) throw new EmbedderError("its integration was deleted", false);
    const { name, endpoint, enabled, sealed, models } = found;
    if (!enabled) throw new EmbedderError(`the integration ${name} is disabled`, false);
    const why = leftOut(found);
    if (why !== undefined) throw new EmbedderError(`the integration ${name} cannot be used: ${why}`, true);
    const model = given === "" ? models[0]! : given;
    const credential = sealed === "" ? "" : seal.open(sealed, placeOf({ plural: "integrations" }, id, "sealed"));
    const parts = { isolation, policy, misbehaved: (error: MisbehavedError) => leaveOut(id, error) };
    const remote = { id, owner: found.owner };
    const prefixes = asked === undefined ? prefixesOf(model, setting) : asked === "none" ? undefined : asked;
    const prefix = prefixes?.[asked === undefined ? "passage" : "query"] ?? "";
    const own = `${id}/${model}${prefixes === undefined ? "" : `\n${JSON.stringify([prefixes.query, prefixes.passage])}`}`;
    return createOpenAiEmbedder(parts, { id: own, remote, name, endpoint, model, credential, prefix });
  }

  return {
    async of({ integrations: [id], embedding_model }) {
      return id === undefined ? builtIn : ofIntegration(id, embedding_model);
    },
    async byId(id) {
      if (id === BUILT_IN) return builtIn;
      const [model = "", prefixes] = id.slice(id.indexOf("/") + 1).split("\n");
      return ofIntegration(integrationIn(id), model, prefixes === undefined ? "none" : prefixesIn(prefixes));
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
    },
  };
}

/** The prefixes in the id of an embedder. */
function prefixesIn(json: string): Prefixes {
  const [query, passage] = JSON.parse(json) as [string, string];
  return { query, passage };
}

/** The integration in the id of an embedder. */
function integrationIn(id: string): string {
  return id.slice(0, id.indexOf("/"));
}
