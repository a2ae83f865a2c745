// A service that does nothing, and the services that a façade asks for what it needs.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearField, clone, createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodDescriptorProtoSchema, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { openAuditTrail } from "../../../services/auth/audit-trail.js";
import { recordOwnAudit } from "../../../services/auth/commands/record-audit.js";
import { openAuthStore } from "../../../services/auth/store.js";
import { type Auditor, createAuditor } from "../../../services/shared/audit/auditor.js";
import { createLog, silentLog } from "../../../services/shared/process/log.js";
import type { Chain } from "../../../services/shared/rpc/chain.js";
import { type Method, unary } from "../../../services/shared/rpc/method.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { SightingService } from "../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";
import { createKeys, type Keys } from "../../facade/support/credentials.js";
import { createWorld, fixtureMethods } from "../../facade/support/services.js";

/** Of the sources, from the root of the repository. */
const IMAGE = "test/conformance/gen/api.binpb";

/** Tools in the list, for about 60 KB of it. */
const TOOLS = 24;

/** Of a tool that does what `echo_sighting` does, but is not said to change nothing: its calls are audited. */
const AUDITED = { method: "KeepSighting", tool: "keep_sighting" };

/** Tools, by the image of their methods and by their names. */
export interface Tools {
  readonly image: FileRegistry;
  readonly names: readonly string[];
}

/** Those of the fixtures: one tool many times over, and once more audited. */
export function tools(): Tools {
  const names = ["echo_sighting", "count_sightings"];
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
  return { image: createFileRegistry(set), names };
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

/** Keys of two callers, which every process knows alike. */
export function keysOf(): Keys {
  const keys = createKeys();
  for (const key of ["good", "other"]) keys.add(key, { scopes: new Set(["account", "cti:read"]) });
  return keys;
}

/** What the service does in addition, and whether its calls are recorded. */
export interface Nothing {
  readonly work?: Work | undefined;
  /** Whether calls are logged, and changes audited. */
  readonly audits?: boolean | undefined;
}

/** Its methods, and what stands in front of them. */
export async function nothing(
  { image, names }: Tools,
  { work, audits = false }: Nothing,
): Promise<{ readonly methods: readonly Method[]; readonly steps: Chain }> {
  const world = createWorld();
  world.visible.set("*", [...names]);
  const methods = [...fixtureMethods(world, ["cti"]), audited(image), ...(work === undefined ? [] : [working(work)])];
  // Its lines are made, and not written.
  const recorded = audits && { log: createLog("info", { write: () => undefined }), audit: await auditor() };
  return { methods, steps: { authenticator: keysOf().authenticator, log: silentLog, ...recorded } };
}
