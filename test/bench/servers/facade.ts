// A façade under measurement, over a service that does nothing.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearField, clone, createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodDescriptorProtoSchema, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import type { EdgeName } from "../../../facade/config.js";
import { createFacade } from "../../../facade/facade.js";
import { openAuditTrail } from "../../../services/auth/audit-trail.js";
import { recordOwnAudit } from "../../../services/auth/commands/record-audit.js";
import { openAuthStore } from "../../../services/auth/store.js";
import { type Auditor, createAuditor } from "../../../services/shared/audit/auditor.js";
import { createShares } from "../../../services/shared/limits/shares.js";
import { createLog, silentLog } from "../../../services/shared/process/log.js";
import { allocateAsNew } from "../../../services/shared/process/new-objects.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { type Method, unary } from "../../../services/shared/rpc/method.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { SightingService } from "../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";
import { createKeys } from "../../facade/support/credentials.js";
import { createWorld, fixtureMethods } from "../../facade/support/services.js";
import { LIMITS, MANY } from "../../facade/support/start.js";
import { serveAsAsked } from "./own.js";

/** Of the sources, from the root of the repository. */
const IMAGE = "test/conformance/gen/api.binpb";

/** Tools in the list, for about 60 KB of it. */
const TOOLS = 24;

/** Of a tool that does what `echo_sighting` does, but is not said to change nothing: its calls are audited. */
const AUDITED = { method: "KeepSighting", tool: "keep_sighting" };

/** The fixtures' image with one tool many times over, and once more audited. */
function imageOf(names: string[]): FileRegistry {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(IMAGE));
  const service = set.file.flatMap((file) => file.service).find(({ name }) => name === "SightingService");
  const echo = service?.method.find(({ name }) => name === "EchoSighting");
  if (service === undefined || echo === undefined) throw new Error("the fixtures have changed");
  const audited = clone(MethodDescriptorProtoSchema, echo);
  if (audited.options !== undefined) clearField(audited.options, MethodOptionsSchema.field.idempotencyLevel);
  service.method.push({ ...audited, name: AUDITED.method });
  names.push(AUDITED.tool);
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

/** What the audited tool does. */
function audited(image: FileRegistry): Method {
  const desc = image.getService(SightingService.typeName)?.methods.find(({ name }) => name === AUDITED.method);
  return unary(desc as typeof SightingService.method.echoSighting, ({ sighting, word }, { caller: { id } }) =>
    sighting === undefined ? { word, caller: id } : { sighting, word, caller: id },
  );
}

/** The audit of a store of its own, as in a service that is one process. */
async function auditor(): Promise<Auditor> {
  const dir = mkdtempSync(join(tmpdir(), "bench-audit-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const audit = openAuditTrail(await openAuthStore(await openEmbeddedStore(dir)), { days: 90, records: 1_000_000 });
  return createAuditor({ log: silentLog, send: (request) => recordOwnAudit({ audit }, request) });
}

/** The façade that is asked for. */
export interface FacadeAsked {
  /** If omitted, the first that loads. */
  readonly edge?: EdgeName;
  readonly work?: Work;
  /** Requests at once. */
  readonly inFlight?: number;
  /** Whether calls are logged, and changes audited. */
  readonly audits?: boolean;
}

async function facade({ work, edge, inFlight = LIMITS.inFlight, audits = false }: FacadeAsked): Promise<number> {
  const keys = createKeys();
  const world = createWorld();
  const names = ["echo_sighting", "count_sightings"];
  const image = imageOf(names);
  world.visible.set("*", names);
  for (const key of ["good", "other"]) keys.add(key, { scopes: new Set(["account", "cti:read"]) });
  const methods = fixtureMethods(world, ["cti"]);
  methods.push(audited(image));
  if (work !== undefined) methods.push(working(work));
  // Its lines are made, and not written.
  const recorded = audits && { log: createLog("info", { write: () => undefined }), audit: await auditor() };
  const served = await createFacade({
    dispatch: mountInProcess(methods, {
      authenticator: keys.authenticator,
      log: silentLog,
      ...recorded,
    }),
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
  allocateAsNew();
  return served.listen("127.0.0.1", 0);
}

serveAsAsked(facade);
