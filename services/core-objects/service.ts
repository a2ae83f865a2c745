import { loadFolder } from "../shared/process/folder.js";
import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Service } from "../shared/rpc/service.js";
import type { Seal } from "../shared/secrets/seal.js";
import type { Store } from "../shared/store/store.js";
import { installBuiltins, readBuiltins } from "./builtins.js";
import { type Kind, openContext } from "./context.js";
import type { KnowledgeOptions } from "./knowledge/knowledge.js";
import { startWorker } from "./knowledge/worker.js";
import { createPrincipals } from "./principals.js";
import { resealAll } from "./reseal.js";
import type { ObjectQuota } from "./room.js";
import { routes } from "./routes.js";

/** What the service needs. */
export interface Options {
  readonly store: Store;
  /** How auth is asked whom an object is shared with. */
  readonly peers: Peers;
  readonly log: Log;
  /** Seals what is secret of objects. */
  readonly seal: Seal;
  /** What the objects of one user may add up to; OBJECT_QUOTA where left out. */
  readonly quota?: ObjectQuota;
  /** How knowledge is found, where not as usual. */
  readonly knowledge?: KnowledgeOptions;
}

/** Every kind of object there is: a folder of `kinds/` each, whose `kind.ts` exports `kind`. */
export async function loadKinds(): Promise<readonly Kind[]> {
  const modules = await loadFolder<{ readonly kind: Kind }>(new URL("kinds/", import.meta.url), "kind.js");
  return modules.map(({ kind }) => kind);
}

/** Our own records and their gates; installs what ships with the product, and seals with the newest key, before it serves. */
export async function createCoreObjectsService({
  store,
  peers,
  log,
  seal,
  quota,
  knowledge,
}: Options): Promise<Service> {
  const kinds = await loadKinds();
  const context = await openContext(store, kinds, { principals: createPrincipals(peers), seal, quota, knowledge });
  const changed = await installBuiltins(context, readBuiltins(kinds));
  if (changed > 0) log.info({ changed }, "built-in objects installed");
  const resealed = await resealAll(context, log);
  if (resealed > 0) log.info({ resealed }, "secrets of objects sealed with the newest key");
  const worker = startWorker(context, log);
  return {
    name: "core-objects",
    methods: routes(context),
    async ready() {
      try {
        await store.ping();
        return undefined;
      } catch {
        return "the store does not answer";
      }
    },
    async close() {
      await worker.close();
      await context.knowledge.close();
    },
  };
}
