import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { ObservableService, ObservableType } from "#proto/cti/v1/observable_service_pb.js";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type Harness, startHarness } from "./harness.js";

const { getEntity, createEntity, updateEntity, deleteEntity } = EntityService.method;
const { addLabels, removeLabels, addMarkings, createNote } = AnnotationService.method;
const { createReport, addObjectsToContainer, removeObjectFromContainer, listContainerObjects } =
  ContainerService.method;
const { createObservable, promoteObservableToIndicator } = ObservableService.method;
const { createRelationship } = RelationshipService.method;

const UNKNOWN = "11111111-1111-4111-8111-111111111111";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const refusal = async (promise: Promise<unknown>): Promise<ConnectError> => {
  const error = await promise.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
};

let made = 0;
const fresh = (what: string): string => `${what} ${++made} written by test`;

async function makeMalware(as = "analyst", refs = {}): Promise<{ id: string; name: string }> {
  const name = fresh("Malware");
  const { result } = await harness.call(createEntity, { type: "Malware", name, refs }, as);
  return { id: result!.object!.id, name };
}

/** An object that only an administrator may see. */
const makeSecret = () => makeMalware("admin", { markings: ["TLP:RED"] });

test("an entity is created with its author, markings and labels by name", async () => {
  const name = fresh("Malware");
  const { result } = await harness.call(createEntity, {
    type: "Malware",
    name,
    description: "What it does.",
    aliases: [`${name} alias`],
    refs: { author: "Lighthouse Labs", markings: ["TLP:GREEN"], labels: ["Phishing"], confidence: 60 },
  });
  expect(result?.notices).toEqual([]);
  expect(result?.object).toMatchObject({
    type: "Malware",
    name,
    description: "What it does.",
    author: { name: "Lighthouse Labs" },
    markings: ["TLP:GREEN"],
    labels: ["phishing"],
  });
});

test("a name or alias that is taken is refused with the id, and what bears it stays as it was", async () => {
  const name = fresh("Set");
  const { result } = await harness.call(createEntity, {
    type: "Intrusion-Set",
    name,
    aliases: [`${name} alias`],
    description: "first",
  });
  for (const taken of [name, name.toUpperCase(), `${name} ALIAS`]) {
    const error = await refusal(
      harness.call(createEntity, { type: "Intrusion-Set", name: taken, description: "second" }),
    );
    expect(error.code).toBe(Code.AlreadyExists);
    expect(error.rawMessage).toContain(result!.object!.id);
  }
  const read = await harness.call(getEntity, { id: result!.object!.id });
  expect(read.object).toMatchObject({ name, description: "first" });
});

test("a name that only a hidden object bears is refused without telling which", async () => {
  const secret = await makeSecret();
  const error = await refusal(harness.call(createEntity, { type: "Malware", name: secret.name }));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).not.toContain(secret.id);
  expect(error.rawMessage).not.toMatch(/exist/i);
});

test("a reference that leads nowhere refuses the whole creation, where the platform would drop it", async () => {
  const name = fresh("Malware");
  const attempt = (refs: object) => refusal(harness.call(createEntity, { type: "Malware", name, refs }));
  expect((await attempt({ labels: ["no-such-label"] })).code).toBe(Code.NotFound);
  expect((await attempt({ author: "No such author" })).code).toBe(Code.NotFound);
  expect((await attempt({ externalReferenceIds: [UNKNOWN] })).code).toBe(Code.NotFound);
  expect((await attempt({ markings: ["TLP:RED"] })).code).toBe(Code.PermissionDenied);
  expect((await attempt({ markings: ["TLP:GREEN", "TLP:AMBER"] })).code).toBe(Code.InvalidArgument);
  const { exact } = await harness.call(SearchService.method.findEntityByName, { name });
  expect(exact).toBe(false);
});

test("a type that cannot be created here is refused with those that can", async () => {
  const error = await refusal(harness.call(createEntity, { type: "Report", name: "A report" }));
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.rawMessage).toContain("Intrusion-Set");
});

test("a confidence above the caller's own is cut by the platform and the result says so", async () => {
  const { result } = await harness.call(createEntity, { type: "Tool", name: fresh("Tool"), refs: { confidence: 95 } });
  expect(result?.notices.join()).toContain("the confidence is 80, not 95");
});

test("what is left out of an update stays as it was", async () => {
  const { id, name } = await makeMalware();
  await harness.call(updateEntity, { id, description: "changed", addAliases: [`${name} alias`] });
  const { result } = await harness.call(updateEntity, { id, confidence: 40 });
  expect(result?.object).toMatchObject({ name, description: "changed" });
  const { stix } = await harness.call(EntityService.method.getEntityStix, { id });
  expect(stix).toMatchObject({ confidence: 40, aliases: [`${name} alias`] });
  const cleared = await harness.call(updateEntity, { id, description: "" });
  expect(cleared.result?.object?.description).toBe("");
});

test("a renamed object keeps its internal id, and a rename onto another is refused", async () => {
  const one = await makeMalware();
  const two = await makeMalware();
  const name = fresh("Renamed");
  const { result } = await harness.call(updateEntity, { id: one.id, name });
  expect(result?.object).toMatchObject({ id: one.id, name });
  const error = await refusal(harness.call(updateEntity, { id: one.id, name: two.name.toLowerCase() }));
  expect(error.code).toBe(Code.AlreadyExists);
  expect(error.rawMessage).toContain(two.id);
});

test("a commit message without references is reported as not kept", async () => {
  const { id } = await makeMalware();
  const { result } = await harness.call(updateEntity, { id, description: "x", commitMessage: "why" });
  expect(result?.notices.join()).toContain("was not kept");
});

test("an object of higher confidence cannot be changed, and the refusal holds no id of the platform", async () => {
  const { id } = await makeMalware("admin", { confidence: 100 });
  const error = await refusal(harness.call(updateEntity, { id, description: "mine" }));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toContain("confidence");
  expect(error.rawMessage).not.toContain(id);
});

test("a hidden object is not changed, labelled, related or deleted, and reads like none", async () => {
  const { id } = await makeSecret();
  const own = await makeMalware();
  const attempts = [
    harness.call(updateEntity, { id, description: "x" }),
    harness.call(addLabels, { id, labels: ["phishing"] }),
    harness.call(addMarkings, { id, markings: ["TLP:GREEN"] }),
    harness.call(createRelationship, { fromId: own.id, toId: id, relationshipType: "related-to" }),
    harness.call(createNote, { objectIds: [id], content: "a note" }),
    harness.call(deleteEntity, { id }),
  ];
  for (const { code } of await Promise.all(attempts.map(refusal))) expect(code).toBe(Code.NotFound);
});

test("a deletion needs its own right, takes relationships along and is read back", async () => {
  const one = await makeMalware();
  const two = await makeMalware();
  await harness.call(createRelationship, { fromId: one.id, toId: two.id, relationshipType: "related-to" });
  const denied = await refusal(harness.call(deleteEntity, { id: one.id }));
  expect(denied.code).toBe(Code.PermissionDenied);
  const { deleted } = await harness.call(deleteEntity, { id: one.id }, "admin");
  expect(deleted).toMatchObject({ id: one.id, name: one.name });
  expect((await refusal(harness.call(getEntity, { id: one.id }))).code).toBe(Code.NotFound);
  const left = await harness.call(RelationshipService.method.getEntityRelationships, { id: two.id });
  expect(left.totalSize).toBe(0);
  expect((await refusal(harness.call(deleteEntity, { id: one.id }, "admin"))).code).toBe(Code.NotFound);
});

test("the history names who did what, and stays after the object is gone", async () => {
  const { id } = await makeMalware();
  await harness.call(updateEntity, { id, description: "told" });
  const read = () => harness.call(InsightService.method.getEntityHistory, { id });
  await expect
    .poll(async () => (await read()).entries.map(({ act, user }) => `${act} ${user}`))
    .toEqual(["update Analyst", "create Analyst"]);
  await harness.call(deleteEntity, { id }, "admin");
  await expect.poll(async () => (await read()).entries[0]?.act).toBe("delete");
});

test("an observable is refanged, and a known value is refused with its id", async () => {
  const { observable, notices } = await harness.call(createObservable, {
    type: ObservableType.URL,
    value: "hxxps://written[.]c2[.]example/drop",
    score: 70,
    refs: { markings: ["TLP:GREEN"], labels: ["c2"] },
  });
  expect(observable).toMatchObject({
    value: "https://written.c2.example/drop",
    score: 70,
    markings: ["TLP:GREEN"],
    labels: ["c2"],
  });
  expect(notices.join()).toContain("refanged");
  const again = await refusal(
    harness.call(createObservable, { type: ObservableType.URL, value: "https://written.c2.example/drop", score: 1 }),
  );
  expect(again.code).toBe(Code.AlreadyExists);
  expect(again.rawMessage).toContain(observable!.id);
  const looked = await harness.call(SearchService.method.lookupIoc, { value: "https://written.c2.example/drop" });
  expect(looked.matches[0]?.observable?.score).toBe(70);
});

test("every kind of observable can be created", async () => {
  const values: Record<number, string> = {
    [ObservableType.IPV4_ADDR]: "192.0.2.10",
    [ObservableType.IPV6_ADDR]: "2001:db8:ffff::1",
    [ObservableType.DOMAIN_NAME]: "created.example",
    [ObservableType.HOSTNAME]: "host-created",
    [ObservableType.URL]: "https://created.example/",
    [ObservableType.EMAIL_ADDR]: "created@mail.example",
    [ObservableType.FILE]: "created.bin",
    [ObservableType.MAC_ADDR]: "02:00:5e:00:53:aa",
    [ObservableType.MUTEX]: "Global\\created",
    [ObservableType.USER_AGENT]: "Created/1.0 (test)",
    [ObservableType.CRYPTOCURRENCY_WALLET]: "created-wallet",
    [ObservableType.TEXT]: "created [text]",
  };
  for (const [type, value] of Object.entries(values)) {
    const { observable } = await harness.call(createObservable, { type: Number(type), value });
    expect(observable?.value).toBe(value);
  }
  const hashes = { sha256: "A".repeat(64), md5: "b".repeat(32) };
  const { observable } = await harness.call(createObservable, { type: ObservableType.FILE, hashes });
  expect(observable?.value).toBe("a".repeat(64));
  const same = await refusal(
    harness.call(createObservable, { type: ObservableType.FILE, value: "other.bin", hashes: { md5: hashes.md5 } }),
  );
  expect(same.code).toBe(Code.AlreadyExists);
});

test("a malformed value is refused by name", async () => {
  const error = await refusal(harness.call(createObservable, { type: ObservableType.IPV4_ADDR, value: "999.1.1.1" }));
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.rawMessage).toMatch(/^value: /);
});

test("promotion keeps labels and markings, gives the same indicator again, and is refused without a pattern", async () => {
  const { observable } = await harness.call(createObservable, {
    type: ObservableType.DOMAIN_NAME,
    value: "promoted.c2.example",
    refs: { markings: ["TLP:AMBER"], labels: ["botnet"] },
  });
  const first = await harness.call(promoteObservableToIndicator, { id: observable!.id });
  expect(first.created).toBe(true);
  expect(first.indicator).toMatchObject({
    pattern: "[domain-name:value = 'promoted.c2.example']",
    markings: ["TLP:AMBER"],
    labels: ["botnet"],
  });
  const second = await harness.call(promoteObservableToIndicator, { id: observable!.id });
  expect(second).toMatchObject({ created: false, indicator: { id: first.indicator!.id } });
  const text = await harness.call(createObservable, { type: ObservableType.TEXT, value: "no pattern" });
  expect((await refusal(harness.call(promoteObservableToIndicator, { id: text.observable!.id }))).code).toBe(
    Code.FailedPrecondition,
  );
  const malware = await makeMalware();
  expect((await refusal(harness.call(promoteObservableToIndicator, { id: malware.id }))).code).toBe(Code.NotFound);
});

test("a relationship is created once for its time, and one that is not allowed is refused by its pair", async () => {
  const malware = await makeMalware();
  const { result } = await harness.call(createEntity, { type: "Intrusion-Set", name: fresh("Set") });
  const request = { fromId: result!.object!.id, toId: malware.id, relationshipType: "uses" };
  const { relationship } = await harness.call(createRelationship, {
    ...request,
    description: "seen",
    refs: { confidence: 50 },
  });
  expect(relationship).toMatchObject({ type: "uses", to: { name: malware.name }, confidence: 50, description: "seen" });
  expect(relationship?.startTime).toBeUndefined();
  const again = await refusal(harness.call(createRelationship, request));
  expect(again.code).toBe(Code.AlreadyExists);
  expect(again.rawMessage).toContain(relationship!.id);
  const wrong = await refusal(
    harness.call(createRelationship, { fromId: malware.id, toId: result!.object!.id, relationshipType: "resolves-to" }),
  );
  expect(wrong.rawMessage).toContain("resolves-to is not allowed from Malware to Intrusion-Set");
  expect((await refusal(harness.call(createRelationship, { ...request, relationshipType: "loves" }))).code).toBe(
    Code.InvalidArgument,
  );
});

test("a report is created with what it holds, and one of the same name and date is refused", async () => {
  const [one, two] = [await makeMalware(), await makeMalware()];
  const published = { seconds: BigInt(Date.UTC(2026, 9, 1) / 1000), nanos: 0 };
  const name = fresh("Report");
  const { result, objectCount } = await harness.call(createReport, {
    name,
    published,
    reportTypes: ["threat-report"],
    objectIds: [one.id, two.id],
    refs: { markings: ["TLP:GREEN"] },
  });
  expect(objectCount).toBe(2);
  expect(result).toMatchObject({ notices: [], object: { name, markings: ["TLP:GREEN"] } });
  const same = await refusal(harness.call(createReport, { name, published, description: "other" }));
  expect(same.code).toBe(Code.AlreadyExists);
  const word = await refusal(harness.call(createReport, { name: fresh("Report"), reportTypes: ["no-such-type"] }));
  expect(word.rawMessage).toContain("threat-report");
  const secret = await makeSecret();
  const hidden = await refusal(harness.call(createReport, { name: fresh("Report"), objectIds: [one.id, secret.id] }));
  expect(hidden.code).toBe(Code.NotFound);
});

test("objects go into a container all or none, by any id, and membership is read back", async () => {
  const [one, two] = [await makeMalware(), await makeMalware()];
  const { result } = await harness.call(createReport, { name: fresh("Report"), objectIds: [one.id] });
  const containerId = result!.object!.id;
  const missing = await refusal(harness.call(addObjectsToContainer, { containerId, objectIds: [two.id, UNKNOWN] }));
  expect(missing.code).toBe(Code.NotFound);
  expect(missing.rawMessage).toContain(UNKNOWN);
  expect((await harness.call(listContainerObjects, { containerId })).totalSize).toBe(1);
  const { standardId } = await harness.call(getEntity, { id: two.id });
  const added = await harness.call(addObjectsToContainer, { containerId, objectIds: [one.id, standardId] });
  expect(added).toMatchObject({ addedIds: [two.id], alreadyHeldIds: [one.id], objectCount: 2 });
  const removed = await harness.call(removeObjectFromContainer, { containerId, objectId: standardId });
  expect(removed).toMatchObject({ removed: true, objectCount: 1 });
  expect(await harness.call(removeObjectFromContainer, { containerId, objectId: two.id })).toMatchObject({
    removed: false,
    objectCount: 1,
  });
  const wrong = await refusal(harness.call(addObjectsToContainer, { containerId: one.id, objectIds: [two.id] }));
  expect(wrong.code).toBe(Code.FailedPrecondition);
});

test("a note goes on every object that is named", async () => {
  const [one, two] = [await makeMalware(), await makeMalware()];
  const { result } = await harness.call(createNote, {
    objectIds: [one.id, two.id],
    content: "Seen together.",
    abstract: "Pair",
  });
  expect(result).toMatchObject({ notices: [], object: { type: "Note", name: "Pair", description: "Seen together." } });
  const held = await harness.call(listContainerObjects, { containerId: result!.object!.id });
  expect(held.objects.map(({ object }) => object?.id).sort()).toEqual([one.id, two.id].sort());
});

test("labels are added by value and created only by those who may", async () => {
  const { id } = await makeMalware();
  const added = await harness.call(addLabels, { id, labels: ["APT", "osint"] });
  expect(added.result?.object?.labels.toSorted()).toEqual(["apt", "osint"]);
  const denied = await refusal(harness.call(addLabels, { id, labels: ["apt", "brand-new"] }));
  expect(denied.code).toBe(Code.PermissionDenied);
  const created = await harness.call(addLabels, { id, labels: ["brand-new"] }, "admin");
  expect(created.createdLabels).toEqual(["brand-new"]);
  const removed = await harness.call(removeLabels, { id, labels: ["apt", "never-there"] });
  expect(removed.result?.object?.labels).not.toContain("apt");
  expect(removed.result?.notices.join()).toContain("never-there");
});

test("of one kind the higher marking stays, and what a lower one did not change is told", async () => {
  const { id } = await makeMalware("analyst", { markings: ["TLP:GREEN"] });
  const raised = await harness.call(addMarkings, { id, markings: ["TLP:AMBER", "PAP:GREEN"] });
  expect(raised.result?.object?.markings.toSorted()).toEqual(["PAP:GREEN", "TLP:AMBER"]);
  expect(raised.result?.notices).toEqual(["TLP:AMBER replaced TLP:GREEN"]);
  const lower = await harness.call(addMarkings, { id, markings: ["TLP:GREEN"] });
  expect(lower.result?.object?.markings).toContain("TLP:AMBER");
  expect(lower.result?.notices).toEqual(["TLP:GREEN was not added: TLP:AMBER is higher and stays"]);
  const above = await refusal(harness.call(addMarkings, { id, markings: ["TLP:RED"] }));
  expect(above.code).toBe(Code.PermissionDenied);
  expect((await harness.call(getEntity, { id })).object?.markings).toContain("TLP:AMBER");
});

test("a reader is refused every write by the platform's own decision", async () => {
  const { reports } = await harness.call(ContainerService.method.listReports, { pageSize: 1 }, "reader");
  const error = await refusal(harness.call(updateEntity, { id: reports[0]!.id, description: "x" }, "reader"));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toContain("lacks the right");
});

test("a write lands in the live graph although the caller has a draft open", async () => {
  const { draftWorkspaceAdd } = await harness.ask<{ draftWorkspaceAdd: { id: string } }>(
    "analyst",
    'mutation { draftWorkspaceAdd(input: { name: "A draft" }) { id } }',
  );
  const open = (id: string) =>
    harness.ask("analyst", 'mutation($v: [Any]!) { meEdit(input: [{ key: "draft_context", value: $v }]) { id } }', {
      v: [id],
    });
  await open(draftWorkspaceAdd.id);
  const inDraft = await harness.ask<{ malwareAdd: { id: string } }>(
    "analyst",
    'mutation { malwareAdd(input: { name: "Only in the draft" }) { id } }',
  );
  const { id } = await makeMalware();
  await open("");
  const read = async (one: string) => {
    const { stixCoreObject } = await harness.ask<{ stixCoreObject: unknown }>(
      "admin",
      `{ stixCoreObject(id: "${one}") { id } }`,
    );
    return stixCoreObject;
  };
  expect(await read(inDraft.malwareAdd.id)).toBeNull();
  expect(await read(id)).toEqual({ id });
});

test("a platform that demands references says so, and takes the change with one", async () => {
  const strict = await startHarness({ settings: { enforceReferences: ["Tool"] } });
  const { externalReferences } = await strict.ask<{ externalReferences: { edges: { node: { id: string } }[] } }>(
    "admin",
    "{ externalReferences(first: 1) { edges { node { id } } } }",
  );
  const reference = externalReferences.edges[0]!.node.id;
  const name = fresh("Tool");
  const bare = await refusal(strict.call(createEntity, { type: "Tool", name }));
  expect(bare.code).toBe(Code.FailedPrecondition);
  expect(bare.rawMessage).toContain("external_reference_ids");
  const { result } = await strict.call(createEntity, {
    type: "Tool",
    name,
    refs: { externalReferenceIds: [reference] },
  });
  const { id } = result!.object!;
  expect((await refusal(strict.call(updateEntity, { id, description: "x" }))).code).toBe(Code.FailedPrecondition);
  const changed = await strict.call(updateEntity, {
    id,
    description: "x",
    commitMessage: "why",
    externalReferenceIds: [reference],
  });
  expect(changed.result?.notices).toEqual([]);
  await expect
    .poll(async () => (await strict.call(InsightService.method.getEntityHistory, { id })).entries[0]?.commitMessage)
    .toBe("why");
  await strict.close();
});
