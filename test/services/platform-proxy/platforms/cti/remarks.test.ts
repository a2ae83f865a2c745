import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { ContainerRecordService } from "#proto/cti/v1/container_record_service_pb.js";
import { ExternalReferenceService } from "#proto/cti/v1/external_reference_service_pb.js";
import { NoteService } from "#proto/cti/v1/note_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { make, markingId } from "./asking.js";
import { makeMalware, makeSecret } from "./making.js";

const { createNote, addMarkings, removeMarkings } = AnnotationService.method;
const { listEntityNotes, updateNote, deleteNote, createOpinion } = NoteService.method;
const { listEntityExternalReferences, addExternalReference, removeExternalReference } = ExternalReferenceService.method;
const { getContainer } = ContainerRecordService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("notes on an object are listed, changed and deleted; hidden ones are not there", async () => {
  const { id } = await makeMalware(harness);
  const { result } = await harness.call(createNote, { objectIds: [id], content: "Seen again.", abstract: "Title" });
  const noteId = result!.object!.id;
  const objectMarking = [await markingId(harness, "TLP:RED")];
  await make(harness, "Note", { content: "Hidden text", objects: [id], objectMarking });
  const listed = await harness.call(listEntityNotes, { objectId: id });
  expect(listed).toMatchObject({
    notes: [{ id: noteId, abstract: "Title", content: "Seen again." }],
    totalSize: 1,
  });
  const changed = await harness.call(updateNote, {
    noteId,
    content: "Seen twice.",
    abstract: "",
    noteTypes: ["Analysis"],
    likelihood: 70,
    confidence: 100,
  });
  expect(changed.result?.notices).toEqual([
    "the confidence is 80, not 100: OpenCTI limits it to your account's maximum",
  ]);
  const { container } = await harness.call(getContainer, { containerId: noteId });
  expect(container).toMatchObject({
    type: "Note",
    name: "",
    author: { name: "Analyst" },
    content: "Seen twice.",
    types: ["analysis"],
    likelihood: 70,
    objectCount: 1,
  });
  expect((await refusal(harness.call(updateNote, { noteId, noteTypes: ["gossip"] }))).rawMessage).toContain(
    "note_types: gossip is not one of",
  );
  expect((await refusal(harness.call(updateNote, { noteId: id, content: "no note" }))).rawMessage).toBe(
    "note_id: an object of type Malware is not a note; use list_entity_notes to find one",
  );
  expect((await refusal(harness.call(deleteNote, { noteId }, "reader"))).code).toBe(Code.PermissionDenied);
  expect(await harness.call(deleteNote, { noteId })).toMatchObject({ deleted: { id: noteId } });
  expect((await harness.call(listEntityNotes, { objectId: id })).totalSize).toBe(0);
});

test("an opinion is one of the platform's words, and stands on what is named", async () => {
  const { id } = await makeMalware(harness);
  const { result } = await harness.call(createOpinion, {
    objectIds: [id],
    opinion: "Strongly-Agree",
    explanation: "Own telemetry.",
  });
  expect(result).toMatchObject({ notices: [], object: { type: "Opinion", name: "strongly-agree" } });
  const { container } = await harness.call(getContainer, { containerId: result!.object!.id });
  expect(container).toMatchObject({ name: "strongly-agree", description: "Own telemetry.", objectCount: 1 });
  const wrong = await refusal(harness.call(createOpinion, { objectIds: [id], opinion: "maybe" }));
  expect(wrong.rawMessage).toBe(
    "opinion: maybe is not one of strongly-disagree, disagree, neutral, agree, strongly-agree",
  );
  const { id: hidden } = await makeSecret(harness);
  const unseen = await refusal(harness.call(createOpinion, { objectIds: [hidden], opinion: "agree" }));
  expect(unseen.code).toBe(Code.NotFound);
});

test("a reference is made once, attached as it stands, listed and detached", async () => {
  const [one, two] = [await makeMalware(harness), await makeMalware(harness)];
  const reference = { sourceName: "Source", url: "https://source.example/a", description: "An article." };
  const made = await harness.call(addExternalReference, { objectId: one.id, ...reference });
  expect(made).toMatchObject({ created: true, alreadyAttached: false, reference });
  // The platform would overwrite one of the same address.
  const other = { objectId: two.id, sourceName: "Another name", url: reference.url };
  expect(await harness.call(addExternalReference, other)).toMatchObject({
    created: false,
    alreadyAttached: false,
    reference: { id: made.reference!.id, ...reference },
  });
  expect(await harness.call(addExternalReference, other)).toMatchObject({ created: false, alreadyAttached: true });
  for (let i = 0; i < 3; i++)
    await harness.call(addExternalReference, { objectId: one.id, sourceName: `B${i}`, externalId: `X-${i}` });
  const first = await harness.call(listEntityExternalReferences, { objectId: one.id, pageSize: 2 });
  const { nextPageToken: pageToken = "" } = first;
  // What comes in between moves nothing.
  await harness.call(addExternalReference, { objectId: one.id, sourceName: "A", externalId: "0" });
  const rest = await harness.call(listEntityExternalReferences, { objectId: one.id, pageSize: 2, pageToken });
  expect([...first.references, ...rest.references].map(({ sourceName }) => sourceName)).toEqual([
    "B0",
    "B1",
    "B2",
    "Source",
  ]);
  expect([first.totalSize, rest.totalSize, rest.nextPageToken]).toEqual([4, 5, undefined]);
  const externalReferenceId = made.reference!.id;
  expect(await harness.call(removeExternalReference, { objectId: one.id, externalReferenceId })).toMatchObject({
    removed: true,
  });
  expect(await harness.call(removeExternalReference, { objectId: one.id, externalReferenceId })).toMatchObject({
    removed: false,
  });
  expect((await harness.call(listEntityExternalReferences, { objectId: two.id })).totalSize).toBe(1);
  const bare = await refusal(harness.call(addExternalReference, { objectId: one.id, sourceName: "Nowhere" }));
  expect(bare.rawMessage).toBe("url: give url, external_id or both");
});

test("markings are taken off, and who was kept from the object sees it then", async () => {
  const { id } = await makeMalware(harness, "analyst", { markings: ["TLP:AMBER"] });
  await harness.call(addMarkings, { objectId: id, markings: ["PAP:GREEN"] });
  const { result } = await harness.call(removeMarkings, { objectId: id, markings: ["tlp:amber", "TLP:GREEN"] });
  expect(result).toMatchObject({ object: { markings: ["PAP:GREEN"] }, notices: ["the object did not have TLP:GREEN"] });
  const above = await refusal(harness.call(removeMarkings, { objectId: id, markings: ["TLP:RED"] }));
  expect(above.code).toBe(Code.PermissionDenied);
});
