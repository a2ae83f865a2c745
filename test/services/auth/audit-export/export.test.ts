import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditKind, AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { startAuditExport } from "../../../../services/auth/audit-export/export.js";
import { type AuditTrail, openAuditTrail } from "../../../../services/auth/audit-trail.js";
import { type AuthStore, openAuthStore } from "../../../../services/auth/store.js";
import { verifyAuditFile } from "../../../../services/launcher/verify-audit.js";
import { BEGUN } from "../../../../services/shared/audit/entry.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import type { Store } from "../../../../services/shared/store/store.js";
import { temporaryStore } from "../stack.js";
import { CERTIFICATE, otlpReceiver, syslogReceiver } from "./receivers.js";

let opened: Store;
let store: AuthStore;
let trail: AuditTrail;
let folder: string;
let closing: (() => Promise<void>)[];
beforeEach(async () => {
  closing = [];
  folder = mkdtempSync(join(tmpdir(), "audit-"));
  opened = await temporaryStore();
  store = await openAuthStore(opened);
  trail = openAuditTrail(store, { days: 10, records: 1_000 });
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await trail.close();
  await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

const record = (target: string, outcome = "ok") =>
  create(AuditRecordSchema, {
    ...{
      kind: AuditKind.WRITE,
      userId: "u1",
      userEmail: "ana@example.org",
      action: "core.v1.AgentService/UpdateAgent",
    },
    ...{ target, outcome, arguments: ["agent_id", "name"], count: 1, traceId: "0af7651916cd43dd8448eb211c80319c" },
  });
const append = (...targets: string[]) => trail.append(targets.map((target) => record(target)));

function send(urls: readonly string[], headers = {}, log = silentLog, isAlone = false) {
  const receivers = urls.map((url) => new URL(url));
  const running = startAuditExport(store, { receivers, headers, serviceName: "Ours" }, log, isAlone);
  closing.push(() => running.close());
  return running;
}

const fileUrl = (path: string) => pathToFileURL(path).href;
const linesOf = (path: string) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const numbersOf = (path: string) => linesOf(path).map(({ number }) => number);

test("a file has each record as a line, in order, that only the service reads; the chain in it is whole", async () => {
  const path = join(folder, "audit.jsonl");
  await append("a", "b");
  send([fileUrl(path)]);
  await expect.poll(() => numbersOf(path)).toEqual([1, 2]);
  await append("ü");
  await expect.poll(() => numbersOf(path)).toEqual([1, 2, 3]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(linesOf(path)[2]).toMatchObject({
    ...{ number: 3, kind: "write", user_email: "ana@example.org", target: "ü", outcome: "ok", count: 1, begun: false },
    arguments: ["agent_id", "name"],
  });
  expect(await verifyAuditFile(path)).toMatchObject({ records: 3, missing: 0, first: 1, last: 3, problem_count: 0 });
});

test("a receiver gets what comes after a restart if the days of all records are over, and misses nothing", async () => {
  const path = join(folder, "audit.jsonl");
  const late = join(folder, "late.jsonl");
  const told: unknown[] = [];
  const own = { ...silentLog, error: (fields: object) => void told.push(fields) };
  const log = { ...own, child: () => own } as never;
  await append("a", "b");
  send([fileUrl(path)], {}, log);
  await expect.poll(() => numbersOf(path)).toEqual([1, 2]);
  const forgetful = openAuditTrail(store, { days: 1, records: 1_000 }, () => Date.now() + 2 * 86_400_000);
  await forgetful.tend();
  await forgetful.close();
  await trail.close();
  trail = openAuditTrail(store, { days: 10, records: 1_000 });
  send([fileUrl(late)], {}, log);
  await expect.poll(() => store.auditReceivers.findOne({ _id: fileUrl(late) })).toBeTruthy();
  await append("c");
  await expect.poll(() => numbersOf(path)).toEqual([1, 2, 3]);
  await expect.poll(() => numbersOf(late)).toEqual([3]);
  expect(told).toEqual([]);
  expect(await verifyAuditFile(path)).toMatchObject({ records: 3, missing: 0, problem_count: 0 });
});

test("a record in the file that was changed is found", async () => {
  const path = join(folder, "audit.jsonl");
  await append("a", "b", "c");
  send([fileUrl(path)]);
  await expect.poll(() => numbersOf(path)).toEqual([1, 2, 3]);
  const changed = join(folder, "changed.jsonl");
  appendFileSync(changed, readFileSync(path, "utf8").replace('"target":"b"', '"target":"x"'));
  expect((await verifyAuditFile(changed)).problems).toEqual([
    { number: 2, reason: "it is not what its hash says: it was changed" },
  ]);
});

test("a line that was cut off is written again, and none twice", async () => {
  const path = join(folder, "audit.jsonl");
  await append("a", "b");
  const first = send([fileUrl(path)]);
  await expect.poll(() => numbersOf(path)).toEqual([1, 2]);
  await first.close();
  await store.auditReceivers.updateOne({ _id: fileUrl(path) }, { $set: { after: "" } });
  appendFileSync(path, '{"number":3,"rec');
  await append("c");
  send([fileUrl(path)]);
  await expect.poll(() => numbersOf(path)).toEqual([1, 2, 3]);
});

test("after a file was renamed, the next delivery creates it again", async () => {
  const path = join(folder, "audit.jsonl");
  await append("a");
  send([fileUrl(path)]);
  await expect.poll(() => numbersOf(path)).toEqual([1]);
  renameSync(path, `${path}.1`);
  await append("b");
  await expect.poll(() => numbersOf(path)).toEqual([2]);
});

test("a receiver of syslog that comes later gets each record once, framed as RFC 5425 has it", async () => {
  const probe = await syslogReceiver();
  const { port } = probe;
  await probe.close();
  await append("a", "ü");
  send([`tls://localhost:${port}/?ca=${encodeURIComponent(CERTIFICATE)}`]);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await append("c");
  let drops = 2;
  const receiver = await syslogReceiver(port, () => drops-- > 0);
  closing.push(receiver.close);
  await expect.poll(() => receiver.numbers).toEqual([1, 2, 3]);
  await append("d");
  await expect.poll(() => receiver.numbers).toEqual([1, 2, 3, 4]);
  expect(receiver.texts[1]).toMatch(
    /^<109>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ sallyport \d+ write \[meta sequenceId="2"\] \{"number":2,.*"target":"\\u00fc"/,
  );
});

test("a receiver whose certificate nobody vouches for gets nothing", async () => {
  const receiver = await syslogReceiver();
  closing.push(receiver.close);
  await append("a");
  send([`tls://localhost:${receiver.port}`]);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(receiver.texts).toEqual([]);
});

test("a receiver of OTLP logs gets each record once, also after 503 and a partial success", async () => {
  const refusals: (readonly [number, string])[] = [
    [503, "later"],
    [400, "x".repeat(100_000)],
  ];
  const receiver = await otlpReceiver(0, () => refusals.shift() ?? [200, '{"partialSuccess":{}}']);
  closing.push(receiver.close);
  await append("a", "b");
  send([`http://127.0.0.1:${receiver.port}/v1/logs`], { authorization: "Bearer abc" });
  await expect.poll(() => receiver.numbers).toEqual([1, 2]);
  expect(receiver.headers[0]).toMatchObject({ authorization: "Bearer abc", "content-type": "application/json" });
  const [{ resource, scopeLogs }] = JSON.parse(receiver.texts[0] as string).resourceLogs;
  expect(resource.attributes[0]).toEqual({ key: "service.name", value: { stringValue: "Ours" } });
  expect(scopeLogs[0].logRecords[0]).toMatchObject({
    ...{ severityText: "INFO", traceId: "0af7651916cd43dd8448eb211c80319c", eventName: "audit.record" },
    body: { stringValue: "core.v1.AgentService/UpdateAgent ok" },
  });
});

test("a call that has not ended is sent with its outcome, and holds up the later ones so long", async () => {
  const path = join(folder, "audit.jsonl");
  const [number] = await trail.append([record("a", BEGUN)]);
  await append("b");
  send([fileUrl(path)]);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(() => readFileSync(path)).toThrow();
  await trail.finish([{ $typeName: "auth.v1.AuditOutcome", number: number as bigint, outcome: "not_found" }]);
  await expect.poll(() => linesOf(path).map(({ outcome }) => outcome)).toEqual(["not_found", "ok"]);
});

test("of two processes one sends, and the other goes on when it has ended", async () => {
  const receiver = await otlpReceiver();
  closing.push(receiver.close);
  const url = `http://127.0.0.1:${receiver.port}/v1/logs`;
  const [one] = [send([url]), send([url])];
  for (const target of ["a", "b", "c"]) {
    await append(target);
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  await expect.poll(() => receiver.numbers).toEqual([1, 2, 3]);
  await one.close();
  await append("d");
  await expect.poll(() => receiver.numbers).toEqual([1, 2, 3, 4]);
});

test("after a kill, a process that is alone with its store sends at once", async () => {
  const path = join(folder, "audit.jsonl");
  await append("a");
  const url = fileUrl(path);
  const until = new Date(Date.now() + 60_000);
  await store.auditReceivers.insertOne({ _id: url, holder: "killed", until, after: "", since: "" });
  send([url]);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(() => readFileSync(path)).toThrow();
  send([url], {}, silentLog, true);
  await expect.poll(() => numbersOf(path)).toEqual([1]);
});

test("records that were deleted before the receiver took them are told of", async () => {
  const told: unknown[] = [];
  const log = { ...silentLog, error: (fields: object) => void told.push(fields) };
  const path = join(folder, "audit.jsonl");
  await append("a");
  const first = send([fileUrl(path)]);
  await expect.poll(() => numbersOf(path)).toEqual([1]);
  await first.close();
  await append("b", "c", "d");
  await store.audit.deleteMany({ _id: { $in: ["0000000000000002", "0000000000000003"] } });
  send([fileUrl(path)], {}, { ...log, child: () => log } as never);
  await expect.poll(() => numbersOf(path)).toEqual([1, 4]);
  await expect.poll(() => told).toEqual([{ missing: 2 }]);
});
