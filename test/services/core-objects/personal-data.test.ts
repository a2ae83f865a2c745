import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PersonalFate as Fate, type PersonalCount } from "#proto/auth/v1/personal_data_pb.js";
import { PersonalDataService as AuthData } from "#proto/auth/v1/personal_data_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { PersonalDataService as CoreData } from "#proto/core/v1/personal_data_service_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { EVERY_KIND, type KindUnderTest } from "./every-kind.js";
import { plainEmbedders } from "./knowledge/plain-embedder.js";
import { type Person, startLeavingRig } from "./leaving-rig.js";
import { refusal } from "./refusal.js";

let rig: Awaited<ReturnType<typeof startLeavingRig>>;
beforeAll(async () => {
  rig = await startLeavingRig({ knowledge: { embedders: plainEmbedders() } });
});
afterAll(() => rig.close());

const SECRET = "sentinel-of-a-secret-value";
const CONTENT = "sentinel-of-content";
const refused = async (call: Promise<unknown>): Promise<string> => (await refusal(call)).join(": ");

async function make(kind: KindUnderTest, who: Person, more: JsonObject = {}): Promise<string> {
  const method = kind.service.methods.find(({ name }) => name.startsWith("Create"))!;
  const named = { name: kind.nameOf("mine"), description: CONTENT, ...kind.needs } as JsonObject;
  const typed = kind.noun === "integration" ? { type: "INTEGRATION_TYPE_OPENAI" } : {};
  const request = fromJson(method.input, { ...named, ...typed, ...more });
  const made = (await rig.call(method as never, request as never, who)) as unknown as Record<string, { id: string }>;
  return Object.values(made).find((one) => typeof one === "object" && "id" in one)!.id;
}
const kindOf = (snake: string): KindUnderTest => EVERY_KIND.find((one) => one.snake === snake)!;

/** One of each kind with its secret, a document and a run that fails for want of a model. */
async function everythingOf(who: Person): Promise<void> {
  for (const kind of EVERY_KIND) {
    const id = await make(kind, who, { ...(kind.secret?.given(SECRET) as JsonObject | undefined) });
    if (kind.noun !== "knowledge base") continue;
    const document = { knowledgeBaseId: id, name: "Notes", content: `${CONTENT} `.repeat(8_000) };
    await rig.call(DocumentService.method.createDocument, document, who);
  }
  const run = { agentId: "builtin.threat-analyst", input: CONTENT };
  for await (const { event } of rig.dispatch.stream(RunService.method.triggerRun, run, who)) void event;
}

async function exported(userId: string): Promise<{ kind: string; json: string }[]> {
  const found: { kind: string; json: string }[] = [];
  for (const { method } of [AuthData, CoreData as unknown as typeof AuthData]) {
    let pageToken = "";
    do {
      const page = await rig.call(method.exportPersonalData, { userId, pageToken }, rig.root);
      found.push(...page.records);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }
  return found;
}
async function erased(userId: string, dryRun = false): Promise<PersonalCount[]> {
  const core = await rig.call(CoreData.method.erasePersonalData, { userId, dryRun }, rig.root);
  const auth = await rig.call(AuthData.method.erasePersonalData, { userId, dryRun }, rig.root);
  return [...core.counts, ...auth.counts];
}
const deletedOf = (counts: readonly PersonalCount[]) =>
  new Map(counts.flatMap(({ kind, count, fate }) => (fate === Fate.DELETED ? [[kind, Number(count)]] : [])));

/** Every collection of the store, and what of it is about a person. */
const ERASED = "exported, and erased with the person";
const COLLECTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(EVERY_KIND.map(({ plural }) => [plural, ERASED])),
  ...Object.fromEntries(
    ["users", "api_keys", "grants", "sessions", "identities", "delegations", "runs", "run_steps"].map((name) => [
      name,
      ERASED,
    ]),
  ),
  ...Object.fromEntries(
    ["traces", "span_segments", "span_lists", "spans", "span_payloads", "span_pages"].map((name) => [name, ERASED]),
  ),
  ...Object.fromEntries(["knowledge_documents", "knowledge_sources"].map((name) => [name, ERASED])),
  knowledge_blocks: "made of the documents, and erased with them",
  knowledge_pieces: "files of documents that are read, and erased with them",
  knowledge_vectors: "made of the documents, and erased with them",
  notices: "names of agents and runs, which expire",
  run_spending: "sums, which expire",
  run_rights: "made of the agent of a run, and erased with the run",
  object_room: "sums, erased with the person",
  run_room: "sums, erased with the person",
  span_usage: "sums, erased with the person",
  audit: "exported, and stays until its days are over",
  groups: "names of groups; who is in one is said in users",
  oauth: "requests of clients, which expire; a grant's go with the grant",
  used_assertions: "digests, which expire",
  sign_in_attempts: "digests, which expire",
  key_rings: "no person's",
  signing_keys: "no person's",
  schema_versions: "no person's",
  auth_state: "no person's",
  auth_events: "ids, which are deleted when all processes know them",
  auth_processes: "no person's",
  audit_receivers: "no person's",
  switches: "no person's",
  platforms: "no person's",
  registration_tokens: "no person's",
};

test("of every collection it is known what becomes of it when a person is erased", () => {
  const services = join(import.meta.dirname, "../../../services");
  const declared = readdirSync(services, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const source = readFileSync(join(services, file), "utf8");
      return [
        ...source.matchAll(/\bname: "(\w+)",\s*(?:\/\/[^\n]*\s*)*(?:environment|scanBound|journaled|indexes): /g),
      ];
    })
    .map(([, name]) => name as string);
  const kinds = EVERY_KIND.map(({ plural }) => plural);
  expect([...new Set([...declared, ...kinds])].toSorted()).toEqual(Object.keys(COLLECTIONS).toSorted());
  expect(declared.length).toBeGreaterThan(20);
});

test("an administrator exports everything about a person, without a secret, whatever the size of its pages", async () => {
  const person = await rig.person("exported");
  await everythingOf(person);
  const records = await exported(person.id);
  const kinds = new Set(records.map(({ kind }) => kind));
  for (const { snake } of EVERY_KIND) expect(kinds).toContain(snake);
  for (const kind of ["user", "api_key", "audit_record", "document", "document_text", "run"])
    expect(kinds).toContain(kind);
  const pieces = records.filter(({ kind }) => kind === "document_text").map(({ json }) => JSON.parse(json));
  const whole = pieces.map(({ text }: { text: string }) => text).join("");
  expect(whole.trim() === `${CONTENT} `.repeat(8_000).trim()).toBe(true);
  expect(pieces.length).toBeGreaterThan(1);
  expect(new Set(records.map(({ kind, json }) => kind + json)).size).toBe(records.length);
  const text = records.map(({ json }) => json).join("\n");
  expect(text).toContain(person.email);
  const key = person.credential.authorization!.slice("Bearer ".length);
  for (const secret of [SECRET, key.split("_")[2]!, "$2b$", "$argon2", '"sealed"']) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/v\d\.[0-9a-f]{8}\./);
});

test("nobody but an administrator exports or erases", async () => {
  const [person, other] = [await rig.person("asked"), await rig.person("asking")];
  for (const who of [person, other])
    for (const { method } of [AuthData, CoreData as unknown as typeof AuthData]) {
      const userId = person.id;
      expect(await refused(rig.call(method.exportPersonalData, { userId }, who))).toContain("PermissionDenied");
      expect(await refused(rig.call(method.erasePersonalData, { userId }, who))).toContain("PermissionDenied");
    }
});

test("what is refused has changed nothing: one who can sign in, and one whose objects others use", async () => {
  const [person, colleague] = [await rig.person("kept"), await rig.person("kept-colleague")];
  const sharing = [{ to: `user:${colleague.id}`, tier: "TIER_VIEW" }];
  const skill = await make(kindOf("skill"), person, { sharing });
  const agent = await make(kindOf("agent"), colleague, { resourceIds: [skill] });
  const before = await exported(person.id);
  const core = (dryRun: boolean) =>
    rig.call(CoreData.method.erasePersonalData, { userId: person.id, dryRun }, rig.root);
  for (const dryRun of [true, false]) {
    expect(await refused(core(dryRun))).toContain("kept@example.org can still sign in, so nothing was erased");
    const auth = rig.call(AuthData.method.erasePersonalData, { userId: person.id, dryRun }, rig.root);
    expect(await refused(auth)).toContain("can still sign in, so nothing was erased");
  }
  // That somebody called, and with which key, is recorded.
  const still = (records: typeof before) =>
    records.filter(({ kind }) => kind !== "audit_record").map(({ json }) => json.replace(/"last_used_at":.*/, ""));
  expect(still(await exported(person.id))).toEqual(still(before));
  await rig.disable(person);
  for (const dryRun of [true, false])
    expect(await refused(core(dryRun))).toContain(
      `objects of others use what this person owns, so nothing was erased: skill mine (${skill})`,
    );
  // The mark is gone: others may refer to it again.
  const more = await make(kindOf("agent"), colleague, { name: "more", resourceIds: [skill] });
  for (const agentId of [agent, more]) await rig.call(AgentService.method.deleteAgent, { agentId }, colleague);
  expect(deletedOf((await core(false)).counts)).toEqual(new Map([["skill", 1]]));
});

test("an erasure that was cut off goes on where it was, and leaves nothing but what it says", async () => {
  const person = await rig.person("erased");
  await everythingOf(person);
  await rig.disable(person);
  const planned = await erased(person.id, true);
  const prompts = rig.store.collection<{ _id: string }>("prompts");
  const { deleteOne } = prompts;
  prompts.deleteOne = () => Promise.reject(new Error("cut off"));
  await refused(rig.call(CoreData.method.erasePersonalData, { userId: person.id }, rig.root));
  prompts.deleteOne = deleteOne;
  const left = deletedOf(await erased(person.id, true));
  expect(left.size).toBeGreaterThan(0);
  expect(left.size).toBeLessThan(deletedOf(planned).size);
  const done = deletedOf(await erased(person.id));
  const expected = deletedOf(planned);
  // That of a run, which ends with it, a moment after the run.
  for (const counts of [left, done, expected]) counts.delete("delegation");
  expect(done).toEqual(left);
  expect(expected).toEqual(
    new Map([
      ...EVERY_KIND.map(({ snake }) => [snake, 1] as const),
      ...["document", "run", "user", "api_key"].map((kind) => [kind, 1] as const),
    ]),
  );
  const [kept] = planned.filter(({ fate }) => fate === Fate.KEPT);
  expect(kept).toMatchObject({ kind: "audit_record", reason: expect.stringContaining("the audit says who did what") });

  expect(await erased(person.id)).toEqual([]);
  expect(await exported(person.id)).toEqual([]);
  const found: string[] = [];
  for (const name of Object.keys(COLLECTIONS)) {
    // Those of services that are not here.
    if (/^(?:traces|span|switches|platforms|registration|knowledge_vectors)/.test(name)) continue;
    const all = await rig.store
      .collection(name)
      .find({ _id: { $gte: "" } })
      .toArray();
    const text = JSON.stringify(all);
    if (text.includes(person.email)) found.push(name);
    if (name !== "audit" && name !== "auth_events" && text.includes(person.id)) found.push(`${name}: the id`);
  }
  expect(found).toEqual(["audit"]);
});
