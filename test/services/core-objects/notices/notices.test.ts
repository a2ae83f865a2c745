import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import type { AssignmentRecord } from "../../../../services/core-objects/kinds/assignments/record.js";
import { createNotices } from "../../../../services/core-objects/notices/notices.js";
import { NOTICES, type NoticeRecord } from "../../../../services/core-objects/notices/record.js";
import { headersOf } from "../../../../services/core-objects/notices/signature.js";
import { readWebhook } from "../../../../services/launcher/webhook-setting.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";
import { createTracesService } from "../../../../services/traces/service.js";
import { as } from "../rig.js";
import { results } from "../runs/model-server.js";
import { QUICK, startStage } from "../runs/stage.js";

// What people hear of: a receiver on a real socket, which verifies what it gets as Standard Webhooks says.

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OLD = `whsec_${Buffer.alloc(24, 9).toString("base64")}`;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

let stage: Awaited<ReturnType<typeof startStage>>;
const received: Received[] = [];
let status: (n: number) => number = () => 204;
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  received.push({ headers: request.headers, body, at: Date.now() });
  response.writeHead(status(received.length)).end();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
  stage = await startStage({
    webhook: readWebhook(`${url} ${SECRET} ${OLD}`),
    webhookPace: { lookMs: 20, firstMs: 50 },
    runs: { tools: readTools(readImage()), worker: QUICK },
  });
  // A run is told of to its end only where its trace is taken.
  const { store, peers } = stage.rig;
  stage.rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 30 }));
});
afterAll(async () => {
  await stage.close();
  receiver.close();
  receiver.closeAllConnections();
});

const call: typeof stage.rig.dispatch.unary = (...request) => stage.rig.dispatch.unary(...request);

/** As docs/notifications.md has it: what a receiver does. */
function verified({ headers, body }: Received, secret: string): boolean {
  const { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signatures } = headers;
  if (Math.abs(Date.now() / 1_000 - Number(seconds)) > 300) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest();
  return String(signatures)
    .split(" ")
    .map((one) => Buffer.from(one.replace(/^v1,/, ""), "base64"))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

const about = (id: string) =>
  received
    .map((one) => ({ ...one, json: JSON.parse(one.body) }))
    .filter(({ json }) => JSON.stringify(json).includes(id));

test("a signature is the one of the specification's own example", () => {
  const secret = readWebhook("https://example.com whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").secrets;
  const at = new Date(1_614_265_330_000);
  const signed = headersOf({ id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body: '{"test": 2432232314}' }, secret);
  expect(signed).toMatchObject({
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("a run that asks and ends is told twice, signed with both secrets, without a word of what it says", async () => {
  stage.script.reply = (asked) =>
    results(asked).length === 0 ? { call: "ask_user", args: { question: "Which sentinel-host?" } } : "sentinel-answer";
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  const { id } = await stage.rested((await stage.trigger(agent, { input: "sentinel-task" })).id);
  await vi.waitFor(() => expect(about(id)).toHaveLength(1), { timeout: 20_000, interval: 50 });
  await call(RunService.method.updateRun, { runId: id, answer: "that one" }, as("alice"));
  await vi.waitFor(() => expect(about(id)).toHaveLength(2), { timeout: 20_000, interval: 50 });
  const [asks, ended] = about(id);
  expect(asks!.json).toMatchObject({
    type: "run.asks",
    data: { user_id: "alice", run_id: id, agent: { id: agent, name: "Analyst" }, asks_for: "answer" },
  });
  expect(ended!.json).toMatchObject({ type: "run.completed", data: { run_id: id, state: "completed" } });
  for (const one of [asks!, ended!]) {
    expect([SECRET, OLD].map((secret) => verified(one, secret))).toEqual([true, true]);
    expect(verified({ ...one, body: one.body.replace(id, "another") }, SECRET)).toBe(false);
    expect(one.body).not.toContain("sentinel");
    expect(one.body.length).toBeLessThan(500);
  }
  expect(asks!.headers["webhook-id"]).not.toBe(ended!.headers["webhook-id"]);
});

test("a receiver that refuses gets the same message again, later each time, until it takes it", async () => {
  stage.script.reply = () => ({ status: 400, error: "no" });
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  const before = received.length;
  status = (n) => (n - before <= 2 ? 503 : 200);
  const { id, state } = await stage.rested((await stage.trigger(agent)).id);
  expect(state).toBe(RunState.FAILED);
  await vi.waitFor(() => expect(about(id)).toHaveLength(3), { timeout: 20_000, interval: 50 });
  status = () => 204;
  const told = about(id);
  expect(told[0]!.json).toMatchObject({ type: "run.failed", data: { state: "failed", reason: "model_failed" } });
  expect(new Set(told.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(told[1]!.at - told[0]!.at).toBeGreaterThanOrEqual(40);
  expect(told[2]!.at - told[1]!.at).toBeGreaterThanOrEqual(160);
  const stored = stage.rig.store.collection<NoticeRecord>(NOTICES.name);
  await vi.waitFor(async () => {
    const own = await stored.findOne({ _id: String(told[0]!.headers["webhook-id"]) });
    expect(own).toMatchObject({ due_at: null, attempts: 3 });
  });
});

test("a cancelled run tells nobody", async () => {
  stage.script.reply = () => ({ call: "ask_user", args: { question: "Now?" } });
  const agent = await stage.agent({ resourceIds: [await stage.integrate()] });
  const { id } = await stage.rested((await stage.trigger(agent)).id);
  await call(RunService.method.updateRun, { runId: id, cancel: true }, as("alice"));
  await vi.waitFor(async () => expect((await stage.record(id))?.due_at).toBeNull(), { timeout: 20_000, interval: 50 });
  const stored = await stage.rig.store.collection<NoticeRecord>(NOTICES.name).find({}).toArray();
  expect(stored.filter(({ run }) => run === id).map(({ body }) => JSON.parse(body).type)).toEqual(["run.asks"]);
});

test("a schedule that may no longer run as its owner is told, and listed with the news", async () => {
  const agent = await stage.agent({}, "bob");
  const schedule = { name: "Nightly", agentId: agent, input: "Look.", schedule: "0 3 * * *" };
  const { assignment } = await call(AssignmentService.method.createAssignment, schedule, as("bob"));
  stage.rig.delegations.refuse("bob", "your API key was revoked");
  const assignments = stage.rig.store.collection<AssignmentRecord>("assignments");
  const since = new Date();
  await assignments.updateOne({ _id: assignment!.id }, { $set: { next_at: new Date() } });
  await vi.waitFor(() => expect(about(assignment!.id)).toHaveLength(1), { timeout: 20_000, interval: 50 });
  expect(about(assignment!.id)[0]!.json).toMatchObject({
    type: "schedule.stopped",
    data: { user_id: "bob", assignment: { name: "Nightly" }, reason: "your API key was revoked" },
  });
  const newsSince = { seconds: BigInt(Math.floor(since.getTime() / 1_000)), nanos: 0 };
  await vi.waitFor(async () => {
    const { stoppedSchedules } = await call(RunService.method.listRuns, { newsSince }, as("bob"));
    expect(stoppedSchedules).toMatchObject([
      { assignment: { id: assignment!.id, name: "Nightly" }, reason: "your API key was revoked" },
    ]);
  });
  expect((await call(RunService.method.listRuns, { newsSince }, as("alice"))).stoppedSchedules).toEqual([]);
  stage.rig.delegations.refuse("bob", undefined);
});

test("what is told twice is kept once, and when too many wait new ones are not kept", async () => {
  await stage.rig.store.ensure([{ ...NOTICES, name: "notices_full" }]);
  const stored = stage.rig.store.collection<NoticeRecord>("notices_full");
  let refused = 0;
  const notices = createNotices(stored, () => refused++);
  const one = { _id: "a", name: "A", owner: "alice" };
  await notices.stopped(one, "today", "why");
  await notices.stopped(one, "today", "why");
  expect(await stored.countDocuments({})).toBe(1);
  const record = (await stored.findOne({}))!;
  const many = Array.from({ length: 5_000 }, (_, n) => ({ ...record, _id: `n${n}` }));
  await stored.insertMany(many);
  await createNotices(stored, () => refused++).stopped(one, "tomorrow", "why");
  expect([refused, await stored.countDocuments({})]).toEqual([1, 5_001]);
});

test.each([
  ["ftp://example.com whsec_x", "must begin with the URL"],
  ["https://user:word@example.com whsec_x", "must begin with the URL"],
  ["https://example.com", "must have a secret"],
  ["https://example.com whsec_c2hvcnQ=", "24 to 64 random bytes"],
  ["https://example.com not-a-secret", "24 to 64 random bytes"],
])("the setting %j is refused: %s", (text, words) => {
  expect(() => readWebhook(text)).toThrow(words);
});
