import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { fresh, makeMalware, makeSecret } from "./making.js";

const { getEntity, createEntity, updateEntity, deleteEntity } = EntityService.method;
const { addLabels, addMarkings, createNote } = AnnotationService.method;
const { createRelationship } = RelationshipService.method;

const UNKNOWN = "11111111-1111-4111-8111-111111111111";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

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
  const read = await harness.call(getEntity, { objectId: result!.object!.id });
  expect(read.object).toMatchObject({ name, description: "first" });
});

test("a name that only a hidden object bears is refused without telling which", async () => {
  const secret = await makeSecret(harness);
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
  const { id, name } = await makeMalware(harness);
  await harness.call(updateEntity, { objectId: id, description: "changed", addAliases: [`${name} alias`] });
  const { result } = await harness.call(updateEntity, { objectId: id, confidence: 40 });
  expect(result?.object).toMatchObject({ name, description: "changed" });
  const { stix } = await harness.call(EntityService.method.getEntityStix, { objectId: id });
  expect(stix).toMatchObject({ confidence: 40, aliases: [`${name} alias`] });
  const cleared = await harness.call(updateEntity, { objectId: id, description: "" });
  expect(cleared.result?.object?.description).toBe("");
});

test("a renamed object keeps its internal id, and a rename onto another is refused", async () => {
  const one = await makeMalware(harness);
  const two = await makeMalware(harness);
  const name = fresh("Renamed");
  const { result } = await harness.call(updateEntity, { objectId: one.id, name });
  expect(result?.object).toMatchObject({ id: one.id, name });
  const error = await refusal(harness.call(updateEntity, { objectId: one.id, name: two.name.toLowerCase() }));
  expect(error.code).toBe(Code.AlreadyExists);
  expect(error.rawMessage).toContain(two.id);
});

test("a commit message without references is reported as not kept", async () => {
  const { id } = await makeMalware(harness);
  const { result } = await harness.call(updateEntity, { objectId: id, description: "x", commitMessage: "why" });
  expect(result?.notices.join()).toContain("was not saved");
});

test("an object of higher confidence cannot be changed, and the refusal holds no id of the platform", async () => {
  const { id } = await makeMalware(harness, "admin", { confidence: 100 });
  const error = await refusal(harness.call(updateEntity, { objectId: id, description: "mine" }));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toContain("confidence");
  expect(error.rawMessage).not.toContain(id);
});

test("a hidden object is not changed, labelled, related or deleted, and reads like none", async () => {
  const { id } = await makeSecret(harness);
  const own = await makeMalware(harness);
  const attempts = [
    harness.call(updateEntity, { objectId: id, description: "x" }),
    harness.call(addLabels, { objectId: id, labels: ["phishing"] }),
    harness.call(addMarkings, { objectId: id, markings: ["TLP:GREEN"] }),
    harness.call(createRelationship, { fromId: own.id, toId: id, relationshipType: "related-to" }),
    harness.call(createNote, { objectIds: [id], content: "a note" }),
    harness.call(deleteEntity, { objectId: id }),
  ];
  for (const { code } of await Promise.all(attempts.map(refusal))) expect(code).toBe(Code.NotFound);
});

test("a deletion needs its own right, takes relationships along and is read back", async () => {
  const one = await makeMalware(harness);
  const two = await makeMalware(harness);
  await harness.call(createRelationship, { fromId: one.id, toId: two.id, relationshipType: "related-to" });
  const denied = await refusal(harness.call(deleteEntity, { objectId: one.id }));
  expect(denied.code).toBe(Code.PermissionDenied);
  const { deleted } = await harness.call(deleteEntity, { objectId: one.id }, "admin");
  expect(deleted).toMatchObject({ id: one.id, name: one.name });
  expect((await refusal(harness.call(getEntity, { objectId: one.id }))).code).toBe(Code.NotFound);
  const left = await harness.call(RelationshipService.method.listEntityRelationships, { objectId: two.id });
  expect(left.totalSize).toBe(0);
  expect((await refusal(harness.call(deleteEntity, { objectId: one.id }, "admin"))).code).toBe(Code.NotFound);
});

test("the history names who did what, and stays after the object is gone", async () => {
  const { id } = await makeMalware(harness);
  await harness.call(updateEntity, { objectId: id, description: "told" });
  const read = () => harness.call(InsightService.method.listEntityChanges, { objectId: id });
  await expect
    .poll(async () => (await read()).entries.map(({ act, user }) => `${act} ${user}`))
    .toEqual(["update Analyst", "create Analyst"]);
  await harness.call(deleteEntity, { objectId: id }, "admin");
  await expect.poll(async () => (await read()).entries[0]?.act).toBe("delete");
});

test("a reader is refused every write by the platform's own decision", async () => {
  const { reports } = await harness.call(ContainerService.method.listReports, { pageSize: 1 }, "reader");
  const error = await refusal(harness.call(updateEntity, { objectId: reports[0]!.id, description: "x" }, "reader"));
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
  const { id } = await makeMalware(harness);
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
  const strict = await startCti({ settings: { enforceReferences: ["Tool"] } });
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
  expect((await refusal(strict.call(updateEntity, { objectId: id, description: "x" }))).code).toBe(
    Code.FailedPrecondition,
  );
  const changed = await strict.call(updateEntity, {
    objectId: id,
    description: "x",
    commitMessage: "why",
    externalReferenceIds: [reference],
  });
  expect(changed.result?.notices).toEqual([]);
  await expect
    .poll(
      async () =>
        (await strict.call(InsightService.method.listEntityChanges, { objectId: id })).entries[0]?.commitMessage,
    )
    .toBe("why");
  await strict.close();
});
