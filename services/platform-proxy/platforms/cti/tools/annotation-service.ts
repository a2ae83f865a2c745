import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { permissionDenied } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import { unseen } from "../../../lib/outcome.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import type { Platform } from "../../../platform.js";
import { capabilitiesOf, type Marking, type Me } from "../adapter.js";
import { COUNTED, countOf } from "../contents.js";
import { someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { CORE, markingsOf as namesOf, summaryOf, labelsOf as valuesOf } from "../knowledge.js";
import { labelsOf, markingsOf } from "../names.js";
import { ADD_REFS, REMOVE_REF } from "../ref-edits.js";
import { changeableOf, objectOf, objectsOf } from "../resolve.js";
import { checkedText, textOf } from "../text.js";
import { inputOf, madeOf, noticesOfNew, referencesOf } from "../writes.js";

const { createNote, addLabels, removeLabels, addMarkings, removeMarkings } = AnnotationService.method;

/** Writes a note. */
export const CREATE_NOTE = operation(
  `
  mutation CreateNote($input: NoteAddInput!) {
    noteAdd(input: $input) {
      ...Core
      confidence
      ...Counted
    }
  }
`,
  [CORE, COUNTED],
);

/** Creates a label. */
export const CREATE_LABEL = operation(`
  mutation CreateLabel($input: LabelAddInput!) {
    labelAdd(input: $input) {
      id
    }
  }
`);

/** Puts a marking on an object. */
export const ADD_MARKING = operation(`
  mutation AddMarking($id: ID!, $marking: StixRef!) {
    stixCoreObjectEdit(id: $id) {
      relationAdd(input: { toId: $marking, relationship_type: "object-marking" }) {
        id
      }
    }
  }
`);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(createNote, async ({ objectIds, content, abstract, refs }, platform) => {
    checkedText("content", content);
    const objects = [...new Set((await objectsOf(platform, objectIds, "object_ids", true)).map(({ id }) => id))];
    const input = await inputOf(platform, refs);
    const fields = { ...input, content, objects, ...textOf("attribute_abstract", abstract, "abstract") };
    const { noteAdd } = await takingTurns(platform, "Note", [content], () =>
      platform.graphql(CREATE_NOTE, { input: fields }),
    );
    const made = madeOf(noteAdd);
    const notices = noticesOfNew({ refs }, made);
    const held = countOf(made.objects).objectCount;
    if (held !== objects.length) notices.push(`the note is attached to ${held} of ${objects.length} objects`);
    return { result: { object: summaryOf(made), notices } };
  }),
  unary(addLabels, async ({ objectId, labels, externalReferenceIds }, platform) => {
    const target = await changeableOf(platform, objectId);
    const references = await referencesOf(platform, externalReferenceIds, "external_reference_ids");
    const { found, missing } = await labelsOf(platform, labels);
    if (missing.length > 0) await checkMayCreateLabels(platform, missing);
    const ids = found.map((label) => label.id);
    const createdLabels: string[] = [];
    for (const value of missing) {
      await takingTurns(platform, "Label", [value], async () => {
        const [known] = (await labelsOf(platform, [value])).found;
        if (known === undefined) createdLabels.push(value);
        const made = async () => madeOf((await platform.graphql(CREATE_LABEL, { input: { value } })).labelAdd);
        ids.push((known ?? (await made())).id);
      });
    }
    await platform.graphql(ADD_REFS, {
      id: target.id,
      input: { relationship_type: "object-label", toIds: ids },
      references: someOf(references),
    });
    const written = await objectOf(platform, target.id);
    const now = valuesOf(written).map((value) => value.toLowerCase());
    const lost = [...found.map(({ value }) => value.toLowerCase()), ...missing].filter((value) => !now.includes(value));
    if (lost.length > 0) throw unseen(`OpenCTI did not add ${lost.join(", ")}; read the object and try again`);
    return { result: { object: summaryOf(written) }, createdLabels };
  }),
  unary(removeLabels, async ({ objectId, labels }, platform) => {
    const target = await changeableOf(platform, objectId);
    const { found } = await labelsOf(platform, labels);
    const worn = valuesOf(target).map((value) => value.toLowerCase());
    for (const label of found.filter(({ value }) => worn.includes(value.toLowerCase()))) {
      await platform.graphql(REMOVE_REF, { id: target.id, toId: label.id, type: "object-label" });
    }
    const written = await objectOf(platform, target.id);
    const absent = labels.filter((label) => !worn.includes(label.trim().toLowerCase()));
    const notices = absent.length > 0 ? [`the object did not have ${absent.join(", ")}`] : [];
    return { result: { object: summaryOf(written), notices } };
  }),
  unary(addMarkings, async ({ objectId, markings }, platform) => {
    const wanted = await markingsOf(platform, markings, "markings");
    const target = await changeableOf(platform, objectId);
    const before = namesOf(target);
    const added = wanted.filter(({ definition }) => !before.includes(definition ?? ""));
    for (const marking of added) await platform.graphql(ADD_MARKING, { id: target.id, marking: marking.id });
    const written = await objectOf(platform, target.id);
    const { allowed_marking } = await platform.me<Me>();
    const notices = markingNoticesOf(added, before, namesOf(written), allowed_marking ?? []);
    return { result: { object: summaryOf(written), notices } };
  }),
  unary(removeMarkings, async ({ objectId, markings }, platform) => {
    const named = await markingsOf(platform, markings, "markings");
    const target = await changeableOf(platform, objectId);
    const before = namesOf(target);
    const worn = named.filter(({ definition }) => before.includes(definition ?? ""));
    for (const marking of worn)
      await platform.graphql(REMOVE_REF, { id: target.id, toId: marking.id, type: "object-marking" });
    const written = worn.length === 0 ? target : await objectOf(platform, target.id);
    const after = namesOf(written);
    const stuck = worn.filter(({ definition }) => after.includes(definition ?? "")).map(({ definition }) => definition);
    if (stuck.length > 0) throw unseen(`OpenCTI did not remove ${stuck.join(", ")}; read the object and try again`);
    const absent = named.filter((one) => !worn.includes(one)).map(({ definition }) => definition);
    const notices = absent.length > 0 ? [`the object did not have ${absent.join(", ")}`] : [];
    return { result: { object: summaryOf(written), notices } };
  }),
];

/**
 * Says what adding markings came to. Of one kind the higher stays: the platform
 * takes a lower one without an error and changes nothing.
 *
 * @throws ConnectError aborted, where one is missing and no higher one explains it.
 */
function markingNoticesOf(
  added: readonly Marking[],
  before: readonly string[],
  after: readonly string[],
  known: readonly Marking[],
): string[] {
  const sameKindAs = (one: Marking, names: readonly string[]) =>
    known.find(
      ({ definition, definition_type }) => definition_type === one.definition_type && names.includes(definition ?? ""),
    )?.definition;
  return added.flatMap((marking) => {
    const definition = marking.definition ?? "";
    if (after.includes(definition)) {
      const gone = sameKindAs(
        marking,
        before.filter((name) => !after.includes(name)),
      );
      return gone === undefined ? [] : [`${definition} replaced ${gone}`];
    }
    const higher = sameKindAs(marking, after);
    if (higher === undefined) throw unseen(`OpenCTI did not add ${definition}; read the object and try again`);
    return [`${definition} was not added because the object keeps ${higher}, which is higher`];
  });
}

async function checkMayCreateLabels(platform: Platform, missing: readonly string[]): Promise<void> {
  const held = capabilitiesOf(await platform.me<Me>());
  if (held.includes("*") || held.includes("SETTINGS_SETLABELS")) return;
  throw permissionDenied(
    `labels: nothing was added; these labels do not exist, and your account may not create labels: ${missing.join(", ")}`,
  );
}
