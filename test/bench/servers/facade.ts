// A façade under measurement, over a service that does nothing.

import { readFileSync } from "node:fs";
import { clone, createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { EdgeName } from "../../../facade/config.js";
import { createFacade } from "../../../facade/facade.js";
import { createShares } from "../../../services/shared/limits/shares.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { type Method, unary } from "../../../services/shared/rpc/method.js";
import { SightingService } from "../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";
import { createKeys } from "../../facade/support/credentials.js";
import { createWorld, fixtureMethods } from "../../facade/support/services.js";
import { LIMITS, MANY } from "../../facade/support/start.js";
import { serveAsAsked } from "./own.js";

/** Of the sources, from the root of the repository. */
const IMAGE = "test/conformance/gen/api.binpb";

/** Tools in the list, for about 60 KB of it. */
const TOOLS = 24;

/** The fixtures' image with one tool many times over. */
function imageOf(names: string[]): FileRegistry {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(IMAGE));
  const service = set.file.flatMap((file) => file.service).find(({ name }) => name === "SightingService");
  const echo = service?.method.find(({ name }) => name === "EchoSighting");
  if (service === undefined || echo === undefined) throw new Error("the fixtures have changed");
  for (let i = 0; names.length < TOOLS; i++) {
    const name = `EchoSighting${String.fromCharCode(65 + i)}`;
    service.method.push({ ...clone(MethodDescriptorProtoSchema, echo), name });
    names.push(name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase());
  }
  return createFileRegistry(set);
}

/** Work that a call of a tool does in addition: passes of the event loop, and the milliseconds that each takes. */
export interface Work {
  readonly passes: number;
  readonly ms: number;
}

function working({ passes, ms }: Work): Method {
  return unary(SightingService.method.echoSighting, async ({ word }) => {
    for (let pass = 0; pass < passes; pass++) {
      if (pass > 0) await new Promise((resolve) => setImmediate(resolve));
      const end = performance.now() + ms;
      while (performance.now() < end);
    }
    return { word };
  });
}

/** The façade that is asked for. */
export interface FacadeAsked {
  /** If omitted, the first that loads. */
  readonly edge?: EdgeName;
  readonly work?: Work;
  /** Requests at once. */
  readonly inFlight?: number;
}

async function facade({ work, edge, inFlight = LIMITS.inFlight }: FacadeAsked): Promise<number> {
  const keys = createKeys();
  const world = createWorld();
  const names = ["echo_sighting", "count_sightings"];
  const image = imageOf(names);
  world.visible.set("*", names);
  for (const key of ["good", "other"]) keys.add(key, { scopes: new Set(["account", "cti:read"]) });
  const methods = fixtureMethods(world, ["cti"]);
  if (work !== undefined) methods.push(working(work));
  const served = await createFacade({
    dispatch: mountInProcess(methods, { authenticator: keys.authenticator, log: silentLog }),
    self: { authorization: "Bearer facade" },
    credentials: keys,
    image,
    baseUrl: new URL("http://127.0.0.1"),
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
  return served.listen("127.0.0.1", 0);
}

serveAsAsked(facade);
