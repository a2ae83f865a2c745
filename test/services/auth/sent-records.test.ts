import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AuditKind, AuditRecordSchema, AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { type AuditTrail, openAuditTrail } from "../../../services/auth/audit-trail.js";
import { type AuthStore, openAuthStore } from "../../../services/auth/store.js";
import { type Auditor, createAuditor } from "../../../services/shared/audit/auditor.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { connectRemote } from "../../../services/shared/rpc/remote.js";
import type { Store } from "../../../services/shared/store/store.js";
import { Link } from "../../hold/chaos/link.js";
import { type Stack, serve, startStack, temporaryStore } from "./stack.js";

// A sender whose answer was lost sends its records again: each is in the audit once.

const record = () => create(AuditRecordSchema, { kind: AuditKind.WRITE, action: "a" });
const many = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `s${from + i}`);

describe("the trail", () => {
  let store: Store;
  let records: AuthStore;
  const opened: AuditTrail[] = [];
  beforeEach(async () => {
    store = await temporaryStore();
    records = await openAuthStore(store);
  });
  afterEach(async () => {
    for (const trail of opened.splice(0)) await trail.close();
    await store.close();
  });
  const open = (): AuditTrail => {
    const trail = openAuditTrail(records, { days: 1, records: 100_000 });
    opened.push(trail);
    return trail;
  };

  const append = (trail: AuditTrail, sentIds: string[], repeatsAfter?: bigint) =>
    trail.append(sentIds.map(record), { sentIds, repeatsAfter, mayComeAgain: true });

  test("a record that comes again has the number that it has", async () => {
    const trail = open();
    expect(await append(trail, ["a", "b"])).toEqual([1n, 2n]);
    expect(await append(trail, ["b", "c", "a"])).toEqual([2n, 3n, 1n]);
    // Records without an id are never the same.
    expect(await trail.append([record(), record()])).toEqual([4n, 5n]);
    expect(await records.audit.countDocuments({})).toBe(5);
  });

  test("a process that was started since knows it too, and looks further back if it is told from where", async () => {
    const first = open();
    await append(first, many(1_000));
    await append(first, many(1_000, 1_000));
    await append(first, many(1_000, 2_000));
    const again = await append(open(), ["s2999", "s1500"]);
    expect(again).toEqual([3_000n, 1_501n]);
    // Of all that were there at the start the last 2,000 are remembered; this one is older.
    expect(await append(open(), ["s7"], 5n)).toEqual([8n]);
    expect(await append(open(), ["s8", "new"], 5n)).toEqual([9n, 3_001n]);
    // It was written before the number that it is said to be after: that is another record.
    expect(await append(open(), ["s6"], 7n)).toEqual([3_002n]);
  });

  test("whichever of several processes wrote it, and when the first one writes it late", async () => {
    const [one, other] = [open(), open()];
    await append(one, ["before"]);
    const batch = ["x", "y"];
    expect(await append(other, batch, 1n)).toEqual([2n, 3n]);
    // The request that was thought lost comes after all: this process has not heard of the other's records.
    expect(await append(one, batch)).toEqual([2n, 3n]);
    expect(await append(one, ["z"])).toEqual([4n]);
    expect(await records.audit.countDocuments({})).toBe(4);
  });

  test("what a store wrote of which it gave no answer", async () => {
    const trail = open();
    await append(trail, ["before"]);
    const insert = records.audit.insertMany.bind(records.audit);
    records.audit.insertMany = async (docs) => {
      records.audit.insertMany = insert;
      await insert(docs);
      throw new Error("the connection was lost");
    };
    await expect(append(trail, many(3))).rejects.toThrow("was lost");
    expect(await append(trail, many(4))).toEqual([2n, 3n, 4n, 5n]);
    expect(await records.audit.countDocuments({})).toBe(5);
  });
});

test("of a sender in the same process, whose records come again only after a word of it, none is there twice", async () => {
  const store = await temporaryStore();
  const records = await openAuthStore(store);
  const trail = openAuditTrail(records, { days: 1, records: 100_000 });
  const append = (sentIds: string[], repeatsAfter?: bigint) =>
    trail.append(sentIds.map(record), { sentIds, repeatsAfter });
  expect(await append(["a", "b"])).toEqual([1n, 2n]);
  const insert = records.audit.insertMany.bind(records.audit);
  records.audit.insertMany = async (docs) => {
    records.audit.insertMany = insert;
    await insert(docs);
    throw new Error("the connection was lost");
  };
  await expect(append(many(2))).rejects.toThrow("was lost");
  expect(await append(many(3), 2n)).toEqual([3n, 4n, 5n]);
  expect(await append(["c"])).toEqual([6n]);
  expect(await records.audit.countDocuments({})).toBe(6);
  await trail.close();
  await store.close();
});

describe("over a connection that is cut after the records arrived", () => {
  let stack: Stack;
  let server: Awaited<ReturnType<typeof serve>>;
  let link: Link;
  let auditor: Auditor;
  let sent: number;
  /** What happens once the next records are on disk. */
  let onWritten: (() => void) | undefined;
  beforeEach(async () => {
    const store = await temporaryStore();
    const collection = store.collection.bind(store);
    store.collection = (name) => {
      const own = collection(name) as unknown as AuthStore["audit"];
      if (name !== "audit") return own as never;
      const insert = own.insertMany.bind(own);
      own.insertMany = async (docs) => {
        const done = await insert(docs);
        onWritten?.();
        onWritten = undefined;
        return done;
      };
      return own as never;
    };
    stack = await startStack({ store });
    server = await serve(stack);
    link = await Link.open(server.port);
    const remote = connectRemote({ auth: link.url });
    const credential = { authorization: `Bearer ${stack.secrets.serviceKey}` };
    sent = 0;
    auditor = createAuditor({
      log: silentLog,
      flushMs: 1,
      async send(request) {
        sent++;
        return (await remote.unary(AuditService.method.recordAudit, request, { credential })).numbers;
      },
    });
  });
  afterEach(async () => {
    await auditor.close();
    await link.close();
    await server.close(0);
    await stack.close();
  });

  /** The next records are written, and nobody hears of it: the way is cut, and reset a moment later. */
  function loseNextAnswer(): void {
    onWritten = () => {
      link.cut();
      setTimeout(() => link.mend(true), 100);
    };
  }
  const actions = async () =>
    (await stack.records.audit.find({}, { sort: { _id: 1 } }).toArray()).map(({ action, outcome }) => [
      action,
      outcome,
    ]);

  test("changes that were made have one record each, and their calls are answered", async () => {
    await auditor.keep({ kind: AuditKind.WRITE, action: "before", outcome: "ok" });
    loseNextAnswer();
    await Promise.all(["a", "b"].map((action) => auditor.keep({ kind: AuditKind.WRITE, action, outcome: "ok" })));
    await auditor.keep({ kind: AuditKind.WRITE, action: "after", outcome: "ok" });
    expect(sent).toBe(4);
    expect(await actions()).toEqual(["before", "a", "b", "after"].map((action) => [action, "ok"]));
  });

  test("a change that is to be made has one record, and is made", async () => {
    loseNextAnswer();
    const end = await auditor.begin({ kind: AuditKind.ADMINISTRATION, action: "switch" });
    await end("ok");
    expect(sent).toBe(3);
    expect(await actions()).toEqual([["switch", "ok"]]);
  });

  test("how a call ended is recorded later if it cannot be recorded now", async () => {
    const end = await auditor.begin({ kind: AuditKind.ADMINISTRATION, action: "switch" });
    link.cut();
    setTimeout(() => link.mend(true), 100);
    await end("ok");
    await expect.poll(actions, { timeout: 5_000 }).toEqual([["switch", "ok"]]);
  });
});
