import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AuditKind, AuditOutcomeSchema, AuditRecordSchema, AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { hashOf } from "../../../services/auth/audit-chain.js";
import { endOfAudit, rememberEnd } from "../../../services/auth/audit-end.js";
import { AUDIT_KINDS } from "../../../services/auth/audit-kinds.js";
import { auditIdOf } from "../../../services/auth/audit-record-doc.js";
import { type AuditTrail, openAuditTrail } from "../../../services/auth/audit-trail.js";
import { type AuditRecordDoc, COLLECTIONS, openAuthStore } from "../../../services/auth/store.js";
import { type Auditor, createAuditor } from "../../../services/shared/audit/auditor.js";
import { BEGUN } from "../../../services/shared/audit/entry.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { unavailable } from "../../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { pageTokenOf } from "../../../services/shared/rpc/page-token.js";
import { outcomeOf } from "../../../services/shared/rpc/write-outcome.js";
import type { Store } from "../../../services/shared/store/store.js";
import { type Stack, startStack, temporaryStore } from "./stack.js";

const users = UserService.method;
const list = AuditService.method.listAuditRecords;
const DAY_MS = 86_400_000;
const code = (expected: Code) => expect.objectContaining({ code: expected });

describe("calls", () => {
  let stack: Stack;
  let auditor: Auditor;
  let down = false;
  let admin: string;
  beforeAll(async () => {
    stack = await startStack();
    admin = stack.secrets.admin.apiKey;
    const plain = stack.dispatch;
    auditor = createAuditor({
      log: silentLog,
      flushMs: 1,
      async send(request) {
        if (down) throw unavailable("away");
        const credential = { authorization: `Bearer ${stack.secrets.serviceKey}` };
        return (await plain.unary(AuditService.method.recordAudit, request, { credential })).numbers;
      },
    });
    const dispatch = mountInProcess(stack.service.methods, { ...stack.steps, audit: auditor });
    stack = {
      ...stack,
      dispatch,
      as: (apiKey, method, request) =>
        dispatch.unary(method, request, { credential: { authorization: `Bearer ${apiKey}` } }),
    };
  });
  afterAll(async () => {
    await auditor.close();
    await stack.close();
  });
  beforeEach(() => {
    down = false;
  });

  const records = async (request: MessageInitShape<typeof AuditService.method.listAuditRecords.input> = {}) =>
    (await stack.as(admin, list, { pageSize: 100, ...request })).records;

  test("administration is there when its call returns: who, what, about whom, which way, how it ended", async () => {
    const { user } = await stack.as(admin, users.createUser, { email: "ana@example.org", name: "Secret Name" });
    const id = user?.id as string;
    await stack.as(admin, users.updateUser, { id, disabled: true, password: "correct horse battery" });
    const [updated, created] = await records();
    expect(created).toMatchObject({
      kind: AuditKind.ADMINISTRATION,
      userEmail: "admin@example.org",
      action: "auth.v1.UserService/CreateUser",
      target: "ana@example.org",
      arguments: ["email", "name"],
      outcome: "ok",
    });
    expect(updated).toMatchObject({
      number: (created?.number as bigint) + 1n,
      target: id,
      targetEmail: "ana@example.org",
      arguments: ["id", "disabled=true", "password"],
      keyId: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
    });
    const kept = JSON.stringify(await stack.records.audit.find({}).toArray());
    for (const secret of ["Secret Name", "correct horse", admin.slice(17)]) expect(kept).not.toContain(secret);
  });

  test("what fails is there with its code, reads and spans are not", async () => {
    await stack.as(admin, users.listUsers, {});
    const gone = stack.as(admin, users.updateUser, { id: "nobody", admin: false });
    await expect(gone).rejects.toEqual(code(Code.NotFound));
    expect((await records())[0]).toMatchObject({
      target: "nobody",
      arguments: ["id", "admin=false"],
      outcome: "not_found",
    });
    expect((await records()).map(({ action }) => action)).not.toContain("auth.v1.UserService/ListUsers");
  });

  test("what cannot be written down is not done", async () => {
    const before = await stack.records.users.countDocuments({});
    down = true;
    const refused = stack.as(admin, users.createUser, { email: "unheard@example.org", name: "U" });
    await expect(refused).rejects.toThrow(/the audit could not record this call; nothing was changed, so try again/);
    down = false;
    expect(await stack.records.users.countDocuments({})).toBe(before);
  });

  test("a refusal is there at once, and the same ones of a minute as one with their count", async () => {
    const { analyst } = stack.secrets;
    for (let i = 0; i < 5; i++) {
      await expect(stack.as(analyst.apiKey, users.listUsers, {})).rejects.toEqual(code(Code.PermissionDenied));
    }
    const refusals = () => records({ kind: AuditKind.REFUSAL });
    await expect.poll(refusals).toHaveLength(1);
    expect((await refusals())[0]).toMatchObject({ userEmail: analyst.email, outcome: "permission_denied", count: 1 });
    await auditor.close();
    expect((await refusals()).map(({ count }) => count)).toEqual([4, 1]);
  });

  test("they are found by who, what, kind, outcome and time, and followed by number", async () => {
    const all = await records();
    const { number, recordedAt } = all.at(-1)!;
    expect((await records({ afterNumber: number })).map((one) => one.number)).toEqual(
      all
        .map((one) => one.number)
        .reverse()
        .slice(1),
    );
    expect(await records({ afterNumber: all[0]!.number })).toEqual([]);
    expect((await records({ action: "createuser" })).every(({ action }) => action.endsWith("CreateUser"))).toBe(true);
    expect(await records({ userEmail: "ANALYST@example.org", kind: AuditKind.ADMINISTRATION })).toEqual([]);
    expect(await records({ userEmail: "analyst@example.org" })).toHaveLength(2);
    expect((await records({ outcome: "not_found" })).map(({ target }) => target)).toEqual(["nobody"]);
    const at = timestampMs(recordedAt!);
    expect(await records({ until: timestampFromMs(at) })).toEqual([]);
    expect(await records({ since: timestampFromMs(at) })).toHaveLength(all.length);
    const [newest, older] = all;
    const since = newest!.recordedAt!;
    const numbers = async (request: MessageInitShape<typeof list.input>) =>
      (await records(request)).map((one) => one.number);
    expect(await numbers({ since, afterNumber: number })).toContain(newest!.number);
    expect(await numbers({ since, afterNumber: number })).not.toContain(number);
    expect(await numbers({ since: recordedAt!, afterNumber: older!.number })).toEqual([newest!.number]);
    const first = await stack.as(admin, list, { pageSize: 1 });
    const second = await stack.as(admin, list, { pageSize: 1, pageToken: first.nextPageToken });
    expect([first.records[0]?.number, second.records[0]?.number]).toEqual(all.slice(0, 2).map((one) => one.number));
    // As a version gave it that ordered records by their time and number.
    const [{ number: one, recordedAt: when }] = first.records as [(typeof first.records)[0]];
    const place = `${new Date(timestampMs(when!)).toISOString()} ${auditIdOf(one)}`;
    const before = pageTokenOf(place, create(list.input, { pageSize: 1 }));
    expect(await stack.as(admin, list, { pageSize: 1, pageToken: before })).toEqual(second);
  });

  test("nobody reads it but administrators, and nobody writes it but services", async () => {
    const { analyst } = stack.secrets;
    await expect(stack.as(analyst.apiKey, list, {})).rejects.toEqual(code(Code.PermissionDenied));
    const forged = stack.as(admin, AuditService.method.recordAudit, { records: [{ action: "x" }] });
    await expect(forged).rejects.toEqual(code(Code.PermissionDenied));
  });

  test("a key that a user makes is administration, by the key's own user", async () => {
    await stack.as(stack.secrets.analyst.apiKey, ApiKeyService.method.createApiKey, { name: "mine" });
    expect(await records({ action: "CreateApiKey" })).toMatchObject([
      { kind: AuditKind.ADMINISTRATION, userEmail: "analyst@example.org" },
    ]);
  });
});

describe("the trail", () => {
  let store: Store;
  const opened: AuditTrail[] = [];
  beforeEach(async () => {
    store = await temporaryStore();
  });
  afterEach(async () => {
    for (const trail of opened.splice(0)) await trail.close();
    await store.close();
  });

  const bounds = { days: 1, records: 10 };
  const open = (...args: Parameters<typeof openAuditTrail>): AuditTrail => {
    const trail = openAuditTrail(...args);
    opened.push(trail);
    return trail;
  };
  const some = (kind: AuditKind, count: number) =>
    Array.from({ length: count }, () =>
      create(AuditRecordSchema, { kind, action: "a", byAdministrator: kind === AuditKind.ADMINISTRATION }),
    );

  test("is numbered without gaps, by whoever writes at once, and goes on where it ended", async () => {
    const records = await openAuthStore(store);
    const trail = open(records, bounds);
    const numbers = await Promise.all([1, 3, 2].map((count) => trail.append(some(AuditKind.WRITE, count))));
    expect(numbers).toEqual([[1n], [2n, 3n, 4n], [5n, 6n]]);
    const next = open(records, bounds);
    expect(await next.append(some(AuditKind.WRITE, 1))).toEqual([7n]);
  });

  test("goes on after a restart if the days of all records are over: the next number, the hash, and no earlier time", async () => {
    const records = await openAuthStore(store);
    let now = 10 * DAY_MS;
    const trail = open(records, bounds, () => now);
    await trail.append(some(AuditKind.WRITE, 3));
    const [third] = await records.audit.find({ _id: auditIdOf(3n) }).toArray();
    now += 2 * DAY_MS;
    await trail.tend();
    expect(await records.audit.countDocuments({})).toBe(0);
    const next = open(records, bounds, () => 1);
    expect(await next.append(some(AuditKind.WRITE, 1))).toEqual([4n]);
    const [fourth] = await records.audit.find({}).toArray();
    expect(fourth).toMatchObject({
      recorded_at: third!.recorded_at,
      previous: hashOf(third!, third!.recorded_at.toISOString()),
    });
  });

  test("of several processes that delete, the one that is behind takes no number back", async () => {
    const records = await openAuthStore(store);
    const end = (number: bigint) => ({ number, at: Number(number), hash: `hash ${number}` });
    expect(await endOfAudit(records)).toEqual({ number: 0n, at: 0, hash: "" });
    for (const number of [2n, 5n, 3n]) await rememberEnd(records, end(number));
    expect(await endOfAudit(records)).toEqual(end(5n));
  });

  test("is numbered without gaps by several processes that write at the same time", async () => {
    const records = await openAuthStore(store);
    const trails = [open(records, bounds), open(records, bounds), open(records, bounds)];
    const writes = Array.from({ length: 30 }, (_, i) =>
      trails[i % 3]!.append(some(AuditKind.ADMINISTRATION, 1 + (i % 4))),
    );
    const numbers = await Promise.all(writes);
    const sorted = numbers
      .flat()
      .map(Number)
      .sort((a, b) => a - b);
    expect(sorted).toEqual(Array.from({ length: sorted.length }, (_, i) => i + 1));
    expect(numbers.map(({ length }) => length)).toEqual(writes.map((_, i) => 1 + (i % 4)));
  });

  test("keeps so many of each kind, so that writes do not crowd out administration", async () => {
    const records = await openAuthStore(store);
    const trail = open(records, bounds);
    await trail.append(some(AuditKind.ADMINISTRATION, 3));
    await trail.append(some(AuditKind.WRITE, 25));
    await trail.tend();
    const left = await records.audit.find({}).toArray();
    expect(left.filter(({ kind }) => kind === "administration")).toHaveLength(3);
    expect(
      left
        .filter(({ kind }) => kind === "write")
        .map(({ _id }) => Number(_id))
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 10 }, (_, i) => 19 + i));
    expect(await trail.append(some(AuditKind.WRITE, 1))).toEqual([29n]);
  });

  test("is never more than a batch beyond what is kept, however fast records come in and whatever was there", async () => {
    const records = await openAuthStore(store);
    await open(records, { days: 1, records: 10_000 }).append(some(AuditKind.WRITE, 4_000));
    const [most, batch] = [500, 1_000];
    const trail = open(records, { days: 1, records: most });
    // What was kept by a larger bound goes first.
    await trail.append(some(AuditKind.ADMINISTRATION, 1));
    await trail.tend();
    expect(await records.audit.countDocuments({})).toBe(most + 1);
    let largest = 0;
    const insert = records.audit.insertMany.bind(records.audit);
    records.audit.insertMany = async (docs) => {
      const done = await insert(docs);
      largest = Math.max(largest, await records.audit.countDocuments({ kind: "write" }));
      return done;
    };
    await Promise.all(Array.from({ length: 20 }, () => trail.append(some(AuditKind.WRITE, batch))));
    expect(largest).toBe(most + batch);
    await trail.append([]);
    expect(await records.audit.countDocuments({ kind: "write" })).toBe(most);
    expect(await records.audit.countDocuments({ kind: "administration" })).toBe(1);
  });

  describe("beyond the bound", () => {
    const by = (who: string, kind: AuditKind, count: number, byAdministrator = false) =>
      Array.from({ length: count }, () =>
        create(AuditRecordSchema, { kind, action: "a", userEmail: `${who}@example.org`, byAdministrator }),
      );
    const kept = async (who: string, trail: AuditTrail): Promise<number[]> => {
      const found = await store
        .collection<AuditRecordDoc>("audit")
        .find({ user_email: `${who}@example.org` })
        .toArray();
      expect(await trail.countOf(`${who}@example.org`)).toBe(found.length);
      return found.map(({ _id }) => Number(_id)).sort((one, other) => one - other);
    };

    test.each([AuditKind.REFUSAL, AuditKind.WRITE])(
      "one person's flood costs nobody else a record (kind %i)",
      async (kind) => {
        const trail = open(await openAuthStore(store), bounds);
        await trail.append(by("bob", kind, 1));
        await trail.append(by("carl", kind, 3));
        await trail.tend();
        for (let n = 0; n < 30; n++) await trail.append(by("mallory", kind, 7));
        await trail.tend();
        expect(await kept("bob", trail)).toEqual([1]);
        expect(await kept("carl", trail)).toEqual([2, 3, 4]);
        // The newest of the flood are there.
        expect(await kept("mallory", trail)).toEqual([209, 210, 211, 212, 213, 214]);
      },
    );

    test("two who have the most give way alike", async () => {
      const trail = open(await openAuthStore(store), bounds);
      for (let n = 0; n < 20; n++)
        await trail.append([...by("mallory", AuditKind.WRITE, 2), ...by("eve", AuditKind.WRITE, 1)]);
      await trail.tend();
      expect([(await kept("mallory", trail)).length, (await kept("eve", trail)).length]).toEqual([5, 5]);
    });

    test("what administrators do stays, however many records they have and others make", async () => {
      const trail = open(await openAuthStore(store), bounds);
      await trail.append(by("root", AuditKind.ADMINISTRATION, 10, true));
      await trail.append(by("root", AuditKind.WRITE, 10, true));
      for (const kind of [AuditKind.ADMINISTRATION, AuditKind.WRITE, AuditKind.REFUSAL])
        await trail.append(by("mallory", kind, 500));
      await trail.tend();
      expect(await kept("root", trail)).toHaveLength(20);
      expect(await kept("mallory", trail)).toHaveLength(30);
    });

    test("who has how many is known again after a restart, and after random writes", async () => {
      const records = await openAuthStore(store);
      const [people, kinds] = [
        ["ana", "bob", "carl", "eve"],
        [AuditKind.ADMINISTRATION, AuditKind.WRITE, AuditKind.REFUSAL],
      ];
      const one = <T>(some: readonly T[]): T => some[Math.floor(Math.random() * some.length)] as T;
      for (let start = 0; start < 3; start++) {
        const trail = open(records, { days: 1, records: 40 });
        await Promise.all(
          Array.from({ length: 60 }, () =>
            trail.append(by(one(people), one(kinds), 1 + Math.floor(Math.random() * 5), Math.random() < 0.3)),
          ),
        );
        await trail.tend();
        for (const who of people) await kept(who, trail);
        expect(await trail.countOf()).toBe(await records.audit.countDocuments({}));
        for (const kind of AUDIT_KINDS)
          expect(await records.audit.countDocuments({ kind }, { hint: "kind" })).toBeLessThanOrEqual(40);
        await trail.close();
      }
    });

    test("if users were counted under an older bound, records of the user who has the most go first", async () => {
      const records = await openAuthStore(store);
      const before = open(records, { days: 1, records: 1_000 });
      await before.append([...by("bob", AuditKind.WRITE, 4), ...by("mallory", AuditKind.WRITE, 900)]);
      await before.close();
      const trail = open(records, bounds);
      await trail.tend();
      expect(await kept("bob", trail)).toHaveLength(4);
      expect(await kept("mallory", trail)).toHaveLength(6);
    });
  });

  test("goes on where records were deleted because their days are over", async () => {
    const records = await openAuthStore(store);
    let now = 1_000_000;
    const trail = open(records, bounds, () => now);
    await trail.append(some(AuditKind.WRITE, 10));
    await trail.tend();
    await records.audit.deleteMany({ kind: "write" });
    now += 3_600_000;
    await trail.tend();
    await trail.append(some(AuditKind.WRITE, 3));
    await trail.append(some(AuditKind.WRITE, 8));
    await trail.append([]);
    expect(await records.audit.countDocuments({ kind: "write" })).toBe(10);
  });

  test("stays in order where the clock is set back", async () => {
    let now = 1_000_000;
    const records = await openAuthStore(store);
    const trail = open(records, bounds, () => now);
    await trail.append(some(AuditKind.WRITE, 1));
    now -= 500_000;
    await trail.append(some(AuditKind.WRITE, 1));
    const [first, second] = await records.audit.find({}, { sort: { _id: 1 } }).toArray();
    expect(second?.recorded_at).toEqual(first?.recorded_at);
  });

  test("is kept for the days that are set now, however many records are older", async () => {
    const records = await openAuthStore(store);
    let now = Date.UTC(2026, 0, 1);
    const year = open(records, { days: 365, records: 10_000 }, () => now);
    await year.append(some(AuditKind.WRITE, 2_500));
    now += 10 * DAY_MS;
    await year.append(some(AuditKind.REFUSAL, 3));
    await year.tend();
    expect(await year.countOf()).toBe(2_503);
    const week = open(records, { days: 7, records: 10_000 }, () => now);
    await week.tend();
    expect((await records.audit.find({}).toArray()).map(({ _id }) => Number(_id))).toEqual([2_501, 2_502, 2_503]);
    now += 7 * DAY_MS;
    await week.tend();
    expect(await records.audit.countDocuments({})).toBe(3);
    now++;
    await week.tend();
    expect(await records.audit.countDocuments({})).toBe(0);
  });

  test("of a version that ordered records by their time and number is listed as it was", async () => {
    const before = { ...COLLECTIONS.find(({ name }) => name === "audit")!, migrations: [] };
    await store.ensure([{ ...before, indexes: [{ name: "kind", key: { kind: 1, order: -1 } }] }]);
    const at = new Date(Date.UTC(2026, 0, 1));
    const old = Array.from({ length: 3 }, (_, n) => {
      const _id = auditIdOf(BigInt(n + 1));
      return {
        _id,
        order: `${at.toISOString()} ${_id}`,
        kind: "write",
        user_email: "",
        recorded_at: at,
        expires_at: at,
      };
    });
    await store.collection("audit").insertMany(old as never);
    const records = await openAuthStore(store);
    const options = { sort: { _id: -1 }, hint: "kind" } as const;
    const { order: _, expires_at: __, ...last } = old[2]!;
    expect((await records.audit.find({ kind: "write" }, options).toArray())[0]).toEqual(last);
    expect(await records.audit.countDocuments({ user_email: "", kind: "write" }, { hint: "user" })).toBe(3);
  });
});

test("the hash of a record is that of versions which stored its time and number as one text", () => {
  const record: Omit<AuditRecordDoc, "recorded_at"> = {
    ...{
      _id: "0000000000000007",
      kind: "write",
      user_id: "u-1",
      user_email: "bob@example.org",
      key_id: "AbCdEfGhIjKl",
    },
    ...{ action: "core.v1.AgentService/UpdateAgent", target: "a-1", arguments: ["agent_id", "name"], outcome: "ok" },
    ...{ trace_id: "4bf92f3577b34da6a3ce929d0e0e4736", count: 1, previous: "x".repeat(43) },
  };
  // Of Python's hashlib, over the JSON array of the fields with that text.
  expect(hashOf(record, "2026-11-23T10:20:30.456Z")).toBe("0fh2wHTWQkMggL38lM0wp-SdNv3e89sTp8e4f_hslFY");
});

test("each record has the hash of the one before it, whoever of several processes wrote that", async () => {
  const store = await temporaryStore();
  const records = await openAuthStore(store);
  const trails = [0, 1].map(() => openAuditTrail(records, { days: 30, records: 1_000 }));
  const record = (action: string, outcome = "ok") =>
    create(AuditRecordSchema, { kind: AuditKind.WRITE, action, outcome });
  await Promise.all(
    Array.from({ length: 30 }, (_, i) => trails[i % 2]!.append([record(`a${i}`), record(`b${i}`, BEGUN)])),
  );
  const [number] = await trails[0]!.append([record("begun", BEGUN)]);
  await trails[1]!.append([record("after it")]);
  // How a call ended comes later, and changes no hash.
  await trails[0]!.finish([create(AuditOutcomeSchema, { number: number as bigint, outcome: "ok" })]);
  const docs = await records.audit.find({}, { sort: { _id: 1 } }).toArray();
  expect(docs).toHaveLength(62);
  const breaks = (some: readonly AuditRecordDoc[]) =>
    some.flatMap((doc, i) =>
      i === 0 || doc.previous === hashOf(some[i - 1]!, some[i - 1]!.recorded_at.toISOString()) ? [] : [i],
    );
  expect(docs[0]?.previous).toBe("");
  expect(breaks(docs)).toEqual([]);
  for (const change of [{ outcome: "not_found" }, { action: "other" }, { user_email: "x@example.org" }, { count: 2 }]) {
    expect(breaks(docs.with(10, { ...docs[10]!, ...change, begun: undefined as never }))).toContain(11);
  }
  expect(breaks(docs.toSpliced(20, 1))).toEqual([20]);
  for (const trail of trails) await trail.close();
  await store.close();
});

test("records wait for auth to come back, up to a bound", async () => {
  let away = true;
  const sent: unknown[] = [];
  const auditor = createAuditor({
    log: silentLog,
    flushMs: 1,
    waiting: 3,
    async send({ records = [] }) {
      if (away) throw unavailable("away");
      sent.push(...records);
      return [];
    },
  });
  for (let i = 0; i < 5; i++) auditor.note({ kind: AuditKind.WRITE, action: String(i) });
  away = false;
  await auditor.close();
  expect(sent).toMatchObject([{ action: "0" }, { action: "1" }, { action: "2" }]);
});

test("changes that end together are written together, and each waits until its record is there", async () => {
  const batches: number[] = [];
  let release: () => void = () => undefined;
  const auditor = createAuditor({
    log: silentLog,
    async send({ records = [] }) {
      batches.push(records.length);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return records.map((_, i) => BigInt(i));
    },
  });
  let answered = 0;
  const keep = (action: string) => auditor.keep({ kind: AuditKind.WRITE, action }).then(() => void answered++);
  const first = keep("first");
  await expect.poll(() => batches).toEqual([1]);
  const more = Array.from({ length: 20 }, (_, i) => keep(`more ${i}`));
  auditor.note({ kind: AuditKind.WRITE, action: "noted" });
  expect(answered).toBe(0);
  release();
  await first;
  expect(answered).toBe(1);
  await expect.poll(() => batches).toEqual([1, 21]);
  release();
  await Promise.all(more);
  await auditor.close();
});

test("a change whose record cannot be written in time is no success, and its record comes later", async () => {
  let away = true;
  const sent: unknown[] = [];
  const auditor = createAuditor({
    log: silentLog,
    patienceMs: 50,
    async send({ records = [] }) {
      if (away) throw unavailable("away");
      sent.push(...records);
      return [];
    },
  });
  const failed = await auditor.keep({ kind: AuditKind.WRITE, action: "late" }).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("the change was made") });
  expect(outcomeOf(failed as ConnectError)).toBe(Outcome.PARTLY);
  away = false;
  await auditor.close();
  expect(sent).toMatchObject([{ action: "late" }]);
});

test("each call waits for its own time, also if others began before it or have their record", async () => {
  let away = true;
  const auditor = createAuditor({
    log: silentLog,
    patienceMs: 600,
    async send() {
      if (away) throw unavailable("away");
      return [];
    },
  });
  const ended: string[] = [];
  const keep = (action: string) =>
    auditor.keep({ kind: AuditKind.WRITE, action }).then(
      () => ended.push(`${action} is there`),
      () => ended.push(`${action} is late`),
    );
  const first = [keep("a"), keep("b")];
  auditor.note({ kind: AuditKind.WRITE, action: "noted" });
  await new Promise((resolve) => setTimeout(resolve, 400));
  const second = [keep("c"), keep("d")];
  await Promise.all(first);
  expect(ended).toEqual(["a is late", "b is late"]);
  const began = performance.now();
  await Promise.all(second);
  expect(performance.now() - began).toBeGreaterThan(50);
  expect(ended.slice(2)).toEqual(["c is late", "d is late"]);
  away = false;
  await auditor.close();
  await keep("e");
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(ended.slice(4)).toEqual(["e is there"]);
});

test("while auth is away calls that change something try it no oftener, and without a place they fail at once", async () => {
  let tries = 0;
  const auditor = createAuditor({
    log: silentLog,
    patienceMs: 60_000,
    waiting: 3,
    async send() {
      tries++;
      throw unavailable("away");
    },
  });
  const keep = () => auditor.keep({ kind: AuditKind.WRITE, action: "a" }).catch((error: unknown) => error);
  for (let i = 0; i < 3; i++) {
    void keep();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(tries).toBe(1);
  expect(await keep()).toMatchObject({ code: Code.Unavailable });
  await auditor.close();
});
