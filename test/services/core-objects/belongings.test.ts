import { fromJson, type JsonObject, toJsonString } from "@bufbuild/protobuf";
import { v7 as uuid } from "uuid";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import {
  type Belonging,
  BelongingsService,
  HandOverOutcome,
  ListBelongingsResponseSchema,
} from "#proto/core/v1/belongings_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import { openContext } from "../../../services/core-objects/context.js";
import type { McpServerRecord } from "../../../services/core-objects/kinds/mcp-servers/record.js";
import type { ObjectRecord } from "../../../services/core-objects/record.js";
import { resealAll } from "../../../services/core-objects/reseal.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { createSeal, newSealKey, parseSealKeys } from "../../../services/shared/secrets/seal.js";
import { EVERY_KIND, type KindUnderTest } from "./every-kind.js";
import { plainEmbedders } from "./knowledge/plain-embedder.js";
import { type Person, startLeavingRig } from "./leaving-rig.js";
import { refusal } from "./refusal.js";
import { SEAL_KEYS } from "./rig.js";

let rig: Awaited<ReturnType<typeof startLeavingRig>>;
beforeAll(async () => {
  rig = await startLeavingRig({ knowledge: { embedders: plainEmbedders() } });
});
afterAll(() => rig.close());

const { listBelongings, handOver, stopWork } = BelongingsService.method;
const VALUE = "sentinel-of-a-secret-value";
const SENTENCE = "sentinel-of-what-it-says";

/** Makes one object of a kind. @returns its id. */
async function make(kind: KindUnderTest, who: Person, more: JsonObject = {}): Promise<string> {
  const method = kind.service.methods.find(({ name }) => name.startsWith("Create"))!;
  const named = { name: kind.nameOf("mine"), description: SENTENCE, ...kind.needs } as JsonObject;
  // Tools take the word, and messages the name of the enum.
  const typed = kind.noun === "integration" ? { type: "INTEGRATION_TYPE_OPENAI" } : {};
  const request = fromJson(method.input, { ...named, ...typed, ...more });
  const made = (await rig.call(method as never, request as never, who)) as unknown as Record<string, { id: string }>;
  return Object.values(made).find((one) => typeof one === "object" && "id" in one)!.id;
}
const kindOf = (snake: string): KindUnderTest => EVERY_KIND.find((one) => one.snake === snake)!;

async function listOf(userId: string, more: object = {}): Promise<Belonging[]> {
  const found: Belonging[] = [];
  let pageToken = "";
  do {
    const page = await rig.call(listBelongings, { userId, pageToken, ...more }, rig.root);
    found.push(...page.belongings);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}
const give = (from: Person, to: Person, more: object = { all: true }) =>
  rig.call(handOver, { userId: from.id, toUserId: to.id, ...more }, rig.root);
const refused = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).join(": ");

/** One of each kind, with its secret. */
async function oneOfEach(who: Person): Promise<Map<string, string>> {
  const made = new Map<string, string>();
  for (const kind of EVERY_KIND)
    made.set(kind.snake, await make(kind, who, { ...(kind.secret?.given(VALUE) as JsonObject | undefined) }));
  return made;
}

test("an administrator is shown kinds and names of what somebody owns, page by page, and no content", async () => {
  const [leaver, colleague] = [await rig.person("list-leaver"), await rig.person("list-colleague")];
  const made = await oneOfEach(leaver);
  await make(kindOf("skill"), colleague);
  const all = await listOf(leaver.id);
  expect(new Map(all.map(({ kind, id }) => [kind, id]))).toEqual(made);
  expect(all.filter(({ holdsSecret }) => holdsSecret).map(({ kind }) => kind)).toEqual(
    ["variable", "mcp_server", "integration"].toSorted(
      (a, b) => all.findIndex((one) => one.kind === a) - all.findIndex((one) => one.kind === b),
    ),
  );
  const page = await rig.call(listBelongings, { userId: leaver.id, pageSize: 100 }, rig.root);
  const text = toJsonString(ListBelongingsResponseSchema, page);
  for (const content of [VALUE, SENTENCE, "127.0.0.1", "inventory", "Look"]) expect(text).not.toContain(content);
  for (const pageSize of [1, 2, 3, EVERY_KIND.length]) expect(await listOf(leaver.id, { pageSize })).toEqual(all);
  const skills = await listOf(leaver.id, { kinds: ["skill", "prompt"] });
  expect(skills.map(({ kind }) => kind).toSorted()).toEqual(["prompt", "skill"]);
  const unknown = rig.call(listBelongings, { userId: leaver.id, kinds: ["agents"] }, rig.root);
  expect(await refused(unknown)).toContain('there is no kind "agents" here, only agent, assignment, custom_tool');
  await rig.remove(leaver);
  expect(await listOf(leaver.id)).toEqual(all);
  expect(await listOf("nobody")).toEqual([]);
});

test("it says what is shared, and what objects of others use", async () => {
  const [leaver, colleague] = [await rig.person("use-leaver"), await rig.person("use-colleague")];
  const sharing = [{ to: `user:${colleague.id}`, tier: "TIER_VIEW" }];
  const [mine, theirs] = [await make(kindOf("skill"), leaver), await make(kindOf("skill"), leaver, { sharing })];
  await make(kindOf("agent"), leaver, { resourceIds: [mine] });
  await make(kindOf("agent"), colleague, { resourceIds: [theirs] });
  const skills = await listOf(leaver.id, { kinds: ["skill"] });
  expect(skills.find(({ id }) => id === mine)).toMatchObject({ shared: false, usedByOthers: false });
  expect(skills.find(({ id }) => id === theirs)).toMatchObject({ shared: true, usedByOthers: true });
});

test("nobody else lists or hands over, the leaver among them; and administrators do not stop work", async () => {
  const [leaver, colleague, stranger] = await Promise.all(["own-l", "own-c", "own-s"].map((name) => rig.person(name)));
  await make(kindOf("variable"), leaver!, { sharing: [{ to: `user:${colleague!.id}`, tier: "TIER_MANAGE" }] });
  for (const who of [leaver!, colleague!, stranger!]) {
    expect(await refused(rig.call(listBelongings, { userId: leaver!.id }, who))).toContain("PermissionDenied");
    const asked = { userId: leaver!.id, toUserId: who.id, all: true };
    expect(await refused(rig.call(handOver, asked, who))).toContain("PermissionDenied");
  }
  expect(await refused(rig.call(stopWork, { userId: leaver!.id }, rig.root))).toContain("PermissionDenied");
});

test("everything goes to the new owner, without secret values; the leaver has nothing, and the administrator no view of it", async () => {
  const [leaver, heir, colleague] = await Promise.all(["all-l", "all-h", "all-c"].map((name) => rig.person(name)));
  const made = await oneOfEach(leaver!);
  const sharing = [
    { to: `user:${colleague!.id}`, tier: "TIER_VIEW" },
    { to: `user:${heir!.id}`, tier: "TIER_VIEW" },
  ];
  const shared = await make(kindOf("prompt"), leaver!, { sharing });
  await rig.disable(leaver!);
  const planned = (await give(leaver!, heir!, { all: true, dryRun: true })).objects;
  expect(new Set(planned.map(({ outcome }) => outcome))).toEqual(new Set([HandOverOutcome.PLANNED]));
  expect(await listOf(heir!.id)).toEqual([]);
  const { objects, nextPageToken } = await give(leaver!, heir!);
  expect(nextPageToken).toBe("");
  expect(objects.map((one) => ({ ...one, outcome: HandOverOutcome.PLANNED }))).toEqual(planned);
  expect(new Set(objects.map(({ outcome }) => outcome))).toEqual(new Set([HandOverOutcome.HANDED_OVER]));
  expect(new Set(objects.map(({ id }) => id))).toEqual(new Set([...made.values(), shared]));
  const notes = new Map(objects.map(({ kind, notes }) => [kind, notes.join(" ")]));
  expect(notes.get("variable")).toContain("its secret value was deleted");
  expect(notes.get("integration")).toContain("its credential was deleted");
  expect(notes.get("mcp_server")).toContain("the values of its headers were deleted");
  expect(await listOf(leaver!.id)).toEqual([]);
  const now = await listOf(heir!.id);
  expect(now.some(({ holdsSecret }) => holdsSecret)).toBe(false);
  const disabled = now.filter(({ enabled }) => !enabled).map(({ kind }) => kind);
  expect(disabled.toSorted()).toEqual(["integration", "mcp_server", "variable"]);
  for (const kind of EVERY_KIND.filter(({ noun }) => noun !== "skill" && noun !== "prompt")) {
    const get = kind.service.methods.find(({ name }) => name.startsWith("Get"))!;
    const request = fromJson(get.input, { [`${kind.snake}_id`]: made.get(kind.snake)! });
    const read = (who: Person) => rig.call(get as never, request as never, who) as Promise<unknown>;
    expect(Object.values((await read(heir!)) as object)).toContainEqual(
      expect.objectContaining({ owner: expect.objectContaining({ id: heir!.id }), description: SENTENCE }),
    );
    for (const who of [rig.root, colleague!]) expect(await refused(read(who))).toContain("NotFound");
  }
  const prompts = kindOf("prompt").service.methods.find(({ name }) => name === "GetPrompt")!;
  const prompt = rig.call(prompts as never, fromJson(prompts.input, { prompt_id: shared }) as never, colleague!);
  expect(await prompt).toMatchObject({ prompt: { yourAccess: 1 } });
  await rig.enable(leaver!);
  expect((await rig.call(VariableService.method.listVariables, {}, leaver!)).variables).toEqual([]);
});

test("a secret variable without its value says so, and is used again once it has one", async () => {
  const [leaver, heir] = [await rig.person("var-l"), await rig.person("var-h")];
  const id = await make(kindOf("variable"), leaver, { value: VALUE, secret: true });
  const plain = await make(kindOf("variable"), leaver, { value: "plain" });
  await rig.disable(leaver);
  await give(leaver, heir, { ids: [id, plain] });
  const { getVariable, updateVariable } = VariableService.method;
  const read = async (variableId: string) => (await rig.call(getVariable, { variableId }, heir)).variable!;
  expect(await read(id)).toMatchObject({ secret: true, enabled: false, lacksValue: true });
  expect((await read(id)).endsWith).toBeUndefined();
  expect(await read(plain)).toMatchObject({ value: "plain", enabled: true });
  expect((await read(plain)).lacksValue).toBeUndefined();
  const stored = await rig.store.collection("variables").findOne({ _id: id });
  expect(stored).toMatchObject({ sealed: "", ends_with: "", sealed_with: "" });
  await rig.call(updateVariable, { variableId: id, value: "another-value-to-keep", enabled: true }, heir);
  expect(await read(id)).toMatchObject({ enabled: true, endsWith: "keep" });
  expect((await read(id)).lacksValue).toBeUndefined();
});

test("what is refused changes nothing", async () => {
  const [leaver, heir, gone, off] = await Promise.all(["r-l", "r-h", "r-g", "r-o"].map((name) => rig.person(name)));
  const mine = await make(kindOf("skill"), leaver!);
  const foreign = await make(kindOf("skill"), off!);
  const company = await make(kindOf("skill"), rig.root, { company_managed: true });
  expect(await refused(give(leaver!, heir!))).toContain(
    "r-l@example.org can still sign in, so nothing was handed over",
  );
  await rig.disable(leaver!);
  await rig.disable(off!);
  await rig.remove(gone!);
  const service = (await rig.records.users.findOne({ service: true }))!._id;
  for (const [to, why] of [
    [off!.id, "r-o@example.org is disabled"],
    [gone!.id, "there is no user"],
    ["nobody", "there is no user"],
    [leaver!.id, "name another person"],
    [service, "a service account cannot own objects"],
  ] as const)
    expect(await refused(give(leaver!, { ...heir!, id: to }))).toContain(why);
  for (const id of [foreign, company, "nothing"])
    expect(await refused(give(leaver!, heir!, { ids: [mine, id] }))).toContain(`owns no object with the id ${id}`);
  for (const more of [{}, { all: true, ids: [mine] }, { ids: [mine], kinds: ["skill"] }])
    expect(await refused(give(leaver!, heir!, more))).toContain("InvalidArgument");
  expect(await refused(give(leaver!, heir!, { all: true, kinds: ["run"] }))).toContain('there is no kind "run"');
  expect((await listOf(leaver!.id)).map(({ id }) => id)).toEqual([mine]);
  expect(await listOf(heir!.id)).toEqual([]);
});

test("repeated, it changes nothing; chosen by kind or id, the rest stays", async () => {
  const [leaver, heir] = [await rig.person("again-l"), await rig.person("again-h")];
  const made = await oneOfEach(leaver);
  await rig.remove(leaver);
  await give(leaver, heir, { all: true, kinds: ["prompt"] });
  expect((await listOf(heir.id)).map(({ kind }) => kind)).toEqual(["prompt"]);
  const ids = [made.get("prompt")!, made.get("skill")!];
  const first = (await give(leaver, heir, { ids })).objects;
  expect(new Map(first.map(({ kind, outcome }) => [kind, outcome]))).toEqual(
    new Map([
      ["prompt", HandOverOutcome.ALREADY_OWNED],
      ["skill", HandOverOutcome.HANDED_OVER],
    ]),
  );
  const before = await rig.store.collection("skills").findOne({ _id: made.get("skill")! });
  const again = (await give(leaver, heir, { ids })).objects;
  expect(new Set(again.map(({ outcome }) => outcome))).toEqual(new Set([HandOverOutcome.ALREADY_OWNED]));
  expect(await rig.store.collection("skills").findOne({ _id: made.get("skill")! })).toEqual(before);
  expect(await listOf(leaver.id)).toHaveLength(EVERY_KIND.length - 2);
});

test("the audit has the call, and each object with both owners", async () => {
  const [leaver, heir] = [await rig.person("audit-l"), await rig.person("audit-h")];
  const id = await make(kindOf("variable"), leaver, { value: VALUE, secret: true });
  await rig.disable(leaver);
  await give(leaver, heir, { all: true, dryRun: true });
  expect((await rig.audited(id)).filter(({ action }) => action.endsWith("/HandOver"))).toEqual([]);
  await give(leaver, heir);
  const [one, ...more] = (await rig.audited(id)).filter(({ action }) => action.endsWith("/HandOver"));
  expect(more).toEqual([]);
  const facts = { userEmail: rig.root.email.toLowerCase(), outcome: "ok", target: id };
  expect(one).toMatchObject({ ...facts, arguments: ["kind=variable", `from=${leaver.id}`, `to=${heir.id}`] });
  const calls = (await rig.audited(leaver.id)).filter(({ action }) => action === "core.v1.BelongingsService/HandOver");
  expect(calls.map((call) => [call.outcome, call.arguments])).toEqual([
    ["ok", ["user_id", "to_user_id", "all=true"]],
    ["ok", ["user_id", "to_user_id", "all=true", "dry_run=true"]],
  ]);
});

test("what is stored counts for the new owner, and the deployment stores as much as before", async () => {
  const [leaver, heir] = [await rig.person("room-l"), await rig.person("room-h")];
  await oneOfEach(leaver);
  const usage = async (asked: object) => {
    const { usage } = await rig.call(UsageService.method.getUsage, asked, rig.root);
    return Object.fromEntries(usage.map(({ name, used }) => [name, used]));
  };
  const [theirs, deployment] = [await usage({ owner: leaver.id }), await usage({ deployment: true })];
  await rig.remove(leaver);
  await give(leaver, heir);
  expect(await usage({ owner: heir.id })).toMatchObject({
    "objects and documents": theirs["objects and documents"],
    "storage of objects": theirs["storage of objects"],
  });
  expect(await usage({ owner: leaver.id })).toMatchObject({ "objects and documents": 0, "storage of objects": 0 });
  const objects = ({ objects, documents, "storage of objects and documents": bytes }: Record<string, number>) => [
    objects,
    documents,
    bytes,
  ];
  expect(objects(await usage({ deployment: true }))).toEqual(objects(deployment));
});

test("others who change an object at the same time lose nothing", async () => {
  const [leaver, heir, colleague] = await Promise.all(["busy-l", "busy-h", "busy-c"].map((name) => rig.person(name)));
  const sharing = [{ to: `user:${colleague!.id}`, tier: "TIER_CONFIG" }];
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) ids.push(await make(kindOf("agent"), leaver!, { sharing }));
  await rig.disable(leaver!);
  const { updateAgent, getAgent } = AgentService.method;
  const [{ objects }] = await Promise.all([
    give(leaver!, heir!, { ids }),
    ...ids.map((agentId) => rig.call(updateAgent, { agentId, model: "large" }, colleague!)),
  ]);
  expect(new Set(objects.map(({ outcome }) => outcome))).toEqual(new Set([HandOverOutcome.HANDED_OVER]));
  for (const agentId of ids)
    expect((await rig.call(getAgent, { agentId }, heir!)).agent).toMatchObject({
      model: "large",
      owner: { id: heir!.id },
    });
});

test("more objects than one call takes are handed over page by page", async () => {
  const [leaver, heir] = [await rig.person("many-l"), await rig.person("many-h")];
  const skills = rig.store.collection<ObjectRecord>("skills");
  const first = (await skills.findOne({ _id: await make(kindOf("skill"), leaver) }))!;
  const copies = Array.from({ length: 300 }, () => uuid()).map((_id) => ({ ...first, _id, request: _id }));
  await skills.insertMany(copies);
  await rig.disable(leaver);
  const page = await give(leaver, heir);
  expect([page.objects.length, page.nextPageToken === ""]).toEqual([200, false]);
  const rest = await give(leaver, heir, { all: true, pageToken: page.nextPageToken });
  expect([rest.objects.length, rest.nextPageToken]).toEqual([101, ""]);
  expect(await skills.countDocuments({ owner: heir.id })).toBe(301);
  expect(await listOf(leaver.id)).toEqual([]);
  const others = rig.call(listBelongings, { userId: heir.id, pageToken: "YWZ0ZXI6OTk6" }, rig.root);
  expect(await refused(others)).toContain("page_token is not from this list");
});

test("a new owner without room gets nothing", async () => {
  const small = await startLeavingRig({ quota: { objects: 3 }, knowledge: { embedders: plainEmbedders() } });
  try {
    const [leaver, heir] = [await small.person("full-l"), await small.person("full-h")];
    const create = (who: Person) =>
      small.call(VariableService.method.createVariable, { name: "ONE", value: VALUE, secret: true }, who);
    for (const who of [leaver, leaver, heir, heir]) await create(who);
    await small.disable(leaver);
    const before = await small.store.collection<ObjectRecord>("variables").find({}).toArray();
    const asked = { userId: leaver.id, toUserId: heir.id, all: true };
    const failed = small.call(handOver, asked, small.root);
    expect(await refused(failed)).toContain("ResourceExhausted: the owner may have at most 3 objects");
    expect(await small.store.collection("variables").find({}).toArray()).toEqual(before);
    const [one] = before.filter(({ owner }) => owner === leaver.id);
    await small.call(handOver, { userId: leaver.id, toUserId: heir.id, ids: [one!._id] }, small.root);
    expect(await refused(create(heir))).toContain("ResourceExhausted");
  } finally {
    await small.close();
  }
});

test("headers without a value are left alone when secrets are sealed with a newer key", async () => {
  const [leaver, heir] = [await rig.person("seal-l"), await rig.person("seal-h")];
  const headers = [
    { name: "X-One", value: VALUE },
    { name: "X-Two", value: VALUE },
  ];
  const mcpServerId = await make(kindOf("mcp_server"), leaver, { headers });
  await rig.disable(leaver);
  await give(leaver, heir, { ids: [mcpServerId] });
  const putHeaders = [{ name: "X-One", value: "another-value-to-keep" }];
  await rig.call(McpServerService.method.updateMcpServer, { mcpServerId, putHeaders }, heir);
  const newer = createSeal(parseSealKeys(`${newSealKey()},${SEAL_KEYS}`));
  const context = await openContext(rig.store, await loadKinds(), { ...NOBODY, seal: newer });
  expect(await resealAll(context, silentLog)).toBeGreaterThan(0);
  const stored = await rig.store.collection<McpServerRecord>("mcp_servers").findOne({ _id: mcpServerId });
  expect(stored!.sealed_with).toBe(newer.key);
  expect(stored!.headers.map(({ sealed }) => sealed === "")).toEqual([false, true]);
});

/** What a context is opened with that asks nobody. */
const NOBODY = {
  principals: { of: async () => [], ofNames: async () => ({ ids: [], unknown: [] }), groupsOf: async () => [] },
  delegations: {
    create: async () => ({ delegation: "", key: null }),
    exchange: () => Promise.reject(new Error("nobody acts here")),
    end: async () => undefined,
  },
  traceUsage: async () => Promise.reject(new Error("no traces")),
  auditUsage: async () => Promise.reject(new Error("no audit")),
  people: { find: async () => undefined },
  audit: async () => [],
  reachChanged: async () => undefined,
  wakeWorker: () => undefined,
};
