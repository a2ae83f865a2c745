// The parts of a request by themselves, in this process, against JSON of the
// same arguments: what a machine does with it says how fast the machine is.

import { create, type JsonObject } from "@bufbuild/protobuf";
import { AuditKind, AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { openAuditTrail } from "../../../services/auth/audit-trail.js";
import { openAuthStore } from "../../../services/auth/store.js";
import { may, type Ownership } from "../../../services/core-objects/policy.js";
import { createCredentials } from "../../../services/shared/credentials/credentials.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Base } from "../../../services/shared/store/store.js";
import { compileDecode } from "../../../services/shared/tools/codec/decode.js";
import { compileEncode } from "../../../services/shared/tools/codec/encode.js";
import { prepareEntries } from "../../../services/shared/tools/entries.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { schemaOf } from "../../../services/shared/tools/schema.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { EchoSightingRequestSchema } from "../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";
import { startStack, temporaryStore } from "../../services/auth/stack.js";
import type { Row, Turn } from "../figures/group.js";
import { turnsOf } from "../figures/turns.js";
import type { Context } from "./context.js";
import { OBJECTS } from "./facade.js";

/** One part of a request. */
interface Part {
  readonly name: string;
  readonly work: () => unknown;
  /** Operations of one call of `work`. */
  readonly operations?: number;
}

/** Parts that the same setup makes. */
interface Parts {
  readonly parts: readonly Part[];
  close(): Promise<void>;
}

/** Records of one write of the audit, as of calls that came together. */
const TOGETHER = 32;
/** Calls between two looks at the clock. */
const BATCH = 16;

/** Measures the parts. */
export async function microSuite({ pace, wants, measured }: Context): Promise<void> {
  const all = [pureParts(), await authParts(), await storeParts()];
  const parts = all.flatMap((one) => one.parts).filter(({ name }, i) => i === 0 || wants(name));
  const rows = parts.map((part) => ({ part, turns: [] as Turn[] }));
  for (const { part } of rows) await turnOf(part, pace.ms / 2);
  for (let round = 0; round < pace.rounds; round++) {
    for (const { part, turns } of turnsOf(rows, round)) turns.push(await turnOf(part, pace.ms / 2));
  }
  for (const { close } of all) await close();
  const asRow = ({ part: { name }, turns }: (typeof rows)[0], i: number): Row => {
    return { name, kind: i === 0 ? "floor" : "ours", turns, megabytes: Number.NaN };
  };
  measured({ suite: "micro", name: "parts of a request", rows: rows.map(asRow) });
}

async function turnOf({ work, operations = 1 }: Part, ms: number): Promise<Turn> {
  const began = performance.now();
  const before = process.cpuUsage();
  let calls = 0;
  while (performance.now() - began < ms) {
    for (let i = 0; i < BATCH; i++) {
      const done = work();
      if (done instanceof Promise) await done;
    }
    calls += BATCH;
  }
  const { user, system } = process.cpuUsage(before);
  const count = calls * operations;
  return { cpu: (user + system) / count, rate: (count * 1_000) / (performance.now() - began) };
}

function pureParts(): Parts {
  const args = OBJECTS.arguments as JsonObject;
  const text = JSON.stringify(args);
  const decode = compileDecode(EchoSightingRequestSchema);
  const encode = compileEncode(EchoSightingRequestSchema);
  const message = decode(args);
  const tools = readTools(readImage()).filter(({ server }) => server === "cti");
  const entriesOf = prepareEntries(tools);
  const seen = { tools, leftOut: [], outputSchemas: false, isPinned: false };
  const caller = { id: "a", groups: ["g1", "g2"], admin: false };
  const object: Ownership = { origin: "user", owner: "b", acl: [{ p: "g:g2", t: 2 }] };
  return {
    parts: [
      { name: "JSON (7 objects parsed and written)", work: () => JSON.stringify(JSON.parse(text)) },
      { name: "codec: arguments of 7 objects to a message", work: () => decode(args) },
      { name: "codec: a message of 7 objects to JSON text", work: () => encode(message) },
      { name: "schema of one message", work: () => schemaOf(EchoSightingRequestSchema, "in") },
      { name: "policy: may the caller change it", work: () => may(caller, "modify", object) },
      { name: "listing: all entries of cti for a new view", work: () => entriesOf(seen) },
    ],
    close: async () => undefined,
  };
}

async function authParts(): Promise<Parts> {
  const stack = await startStack();
  const credential = { authorization: `Bearer ${stack.secrets.serviceKey}` };
  const credentials = createCredentials({ dispatch: stack.dispatch, credential, log: silentLog });
  const key = stack.secrets.analyst.apiKey;
  for (let i = 0; i < 200 && credentials.peek(key) === undefined; i++) {
    await credentials.verify(key);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (credentials.peek(key) === undefined) throw new Error("auth does not know the key");
  return {
    parts: [{ name: "auth: a key that is known", work: () => credentials.peek(key) }],
    async close() {
      await credentials.close();
      await stack.close();
    },
  };
}

interface Doc extends Base {
  readonly text: string;
  readonly n: number;
}

async function storeParts(): Promise<Parts> {
  const store = await temporaryStore();
  await store.ensure([{ name: "bench", indexes: [] }]);
  const docs = store.collection<Doc>("bench");
  const text = "x".repeat(1_000);
  await docs.insertOne({ _id: "one", text, n: 0 });
  const trail = openAuditTrail(await openAuthStore(store), { days: 1, records: 1_000_000 });
  const record = create(AuditRecordSchema, {
    kind: AuditKind.WRITE,
    userId: "user-1",
    userEmail: "analyst@example.com",
    keyId: "key-1",
    action: "core.v1.AgentService/UpdateAgent",
    target: "agent-1",
    arguments: ["agent_id", "instructions"],
    outcome: "ok",
    count: 1,
  });
  let n = 0;
  return {
    parts: [
      { name: "store: find by id", work: () => docs.findOne({ _id: "one" }) },
      { name: "store: update by id, on disk", work: () => docs.updateOne({ _id: "one" }, { $set: { n: ++n } }) },
      { name: "audit: one record, on disk", work: () => trail.append([record]) },
      {
        name: `audit: a record of ${TOGETHER} together, on disk`,
        work: () => trail.append(Array.from({ length: TOGETHER }, () => record)),
        operations: TOGETHER,
      },
    ],
    async close() {
      await trail.close();
      await store.close();
    },
  };
}
