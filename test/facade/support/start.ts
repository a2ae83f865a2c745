import type { FileRegistry } from "@bufbuild/protobuf";
import type { Unauthenticated } from "../../../facade/admission/unauthenticated.js";
import { EDGE_NAMES } from "../../../facade/config.js";
import { createFacade, type Facade, type FacadeOptions } from "../../../facade/facade.js";
import type { Rate } from "../../../services/shared/limits/bucket.js";
import { createShares } from "../../../services/shared/limits/shares.js";
import { type Log, silentLog } from "../../../services/shared/process/log.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { createKeys, type Keys } from "./credentials.js";
import { createWorld, fixtureMethods, type World } from "./services.js";

/** A façade over the fixture services, on a port of its own. */
export interface Started {
  readonly facade: Facade;
  readonly url: string;
  readonly port: number;
  readonly keys: Keys;
  readonly world: World;
  close(): Promise<void>;
}

export const FIXTURE_IMAGE = new URL("../../conformance/gen/api.binpb", import.meta.url);

export const LIMITS = { inFlight: 500, callMs: 60_000, badTokens: 30 };

/** More calls than any test makes. */
export const MANY: Rate = { perSecond: 1e6, burst: 1e6 };

/** Counts no requests of unauthenticated callers. */
export const UNCOUNTED: Unauthenticated = { count: () => undefined };

/** The scopes of a caller who may do everything on cti. */
export const CTI = new Set(["account", "public", "cti:read", "cti:write"]);

/** One for all façades of a test process: what is read of it is kept beside it. Read when it is needed: the benchmark, which is compiled, has no image there. */
let image: FileRegistry | undefined;

/** Starts a façade, on the edge that EDGE names; the key "good" may do everything on cti. */
export async function start(options: Partial<FacadeOptions> = {}, log: Log = silentLog): Promise<Started> {
  image ??= readImage(FIXTURE_IMAGE);
  const keys = createKeys();
  const world = createWorld();
  keys.add("good", { scopes: CTI });
  const servers = ["cti", "aev", "grc", "core"];
  const facade = await createFacade({
    dispatch: mountInProcess(fixtureMethods(world, servers), { authenticator: keys.authenticator, log }),
    self: { authorization: "Bearer facade" },
    credentials: keys,
    image,
    baseUrl: new URL("https://mcp.example.com/base"),
    serviceName: "Test",
    apiKeyVariable: "SERVICE_API_KEY",
    version: "1.2.3",
    ready: async () => [],
    limits: LIMITS,
    shares: createShares({ perKey: MANY, perUser: MANY }),
    log,
    edge: EDGE_NAMES.find((name) => name === process.env.EDGE),
    ...options,
  });
  const port = await facade.listen("127.0.0.1", 0);
  return {
    facade,
    port,
    url: `http://127.0.0.1:${port}/base`,
    keys,
    world,
    close: () => facade.drain(0),
  };
}
