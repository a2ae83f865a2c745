// A façade under measurement, over a service that does nothing: in the process of the service, or in workers of their own.

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { EdgeName } from "../../../facade/config.js";
import { createFacade } from "../../../facade/facade.js";
import { WORKER_FLAGS } from "../../../services/launcher/workers.js";
import { createShares } from "../../../services/shared/limits/shares.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { allocateAsNew } from "../../../services/shared/process/new-objects.js";
import { letOthersFinish } from "../../../services/shared/process/scheduling.js";
import { serveConnect } from "../../../services/shared/rpc/connect.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { connectRemote } from "../../../services/shared/rpc/remote.js";
import { SERVICE_NAMES } from "../../../services/shared/rpc/service.js";
import { LIMITS, MANY } from "../../facade/support/start.js";
import { keysOf, type Nothing, nothing, tools } from "./nothing.js";
import { serveAsAsked } from "./own.js";

const HOST = "127.0.0.1";

/** The façade that is asked for. */
export interface FacadeAsked extends Nothing {
  /** If omitted, the first that loads. */
  readonly edge?: EdgeName;
  /** Requests at once. */
  readonly inFlight?: number;
  /** How many façades run in processes of their own; if omitted, one in the process of the service. */
  readonly workers?: number;
  /** Of a worker: where the service is, and the port that it shares with others, or 0 for the first. */
  readonly over?: { readonly url: string; readonly port: number };
}

async function serve(asked: FacadeAsked): Promise<number> {
  const { workers = 0, over } = asked;
  if (over !== undefined) {
    const dispatch = connectRemote(Object.fromEntries(SERVICE_NAMES.map((name) => [name, over.url])));
    return listen(asked, dispatch, { port: over.port, exclusive: false });
  }
  const { methods, steps } = await nothing(tools(), asked);
  if (workers === 0) return listen(asked, mountInProcess(methods, steps), { port: 0, exclusive: true });
  const { port: servicePort } = await serveConnect({
    host: HOST,
    port: 0,
    methods: methods.map((method) => ({ method, steps })),
    lane: { at: "socket", log: silentLog },
  });
  let port = 0;
  for (let n = 0; n < workers; n++)
    port = await startWorker({ ...asked, over: { url: `http://${HOST}:${servicePort}`, port } });
  allocateAsNew();
  if (workers > 1) letOthersFinish();
  return port;
}

/** Starts a façade in a process of its own, with the flags that the product gives it; resolves to its port. */
async function startWorker(asked: FacadeAsked): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: [...WORKER_FLAGS, ...process.execArgv] });
  child.send(asked);
  const [message] = await once(child, "message");
  return (message as { port: number }).port;
}

async function listen(
  { edge, inFlight = LIMITS.inFlight }: FacadeAsked,
  dispatch: Dispatch,
  { port, exclusive }: { readonly port: number; readonly exclusive: boolean },
): Promise<number> {
  const served = await createFacade({
    dispatch,
    self: { authorization: "Bearer facade" },
    credentials: keysOf(),
    image: tools().image,
    baseUrl: new URL(`http://${HOST}`),
    serviceName: "Bench",
    apiKeyVariable: "SERVICE_API_KEY",
    version: "1.0.0",
    ready: async () => [],
    // One that sends bad tokens all the time is what is measured.
    limits: { ...LIMITS, inFlight, badTokens: 1e9 },
    shares: createShares({ perKey: MANY, perUser: MANY }),
    log: silentLog,
    edge,
  });
  allocateAsNew();
  return served.listen(HOST, port, { exclusive });
}

serveAsAsked(serve);
