import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { NoteService } from "#proto/cti/v1/note_service_pb.js";
import { failedPrecondition, invalidArgument } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import type { Platform } from "../../../platform.js";
import { COUNTED, countOf } from "../contents.js";
import { checkGone } from "../deletion.js";
import { confidenceNotices, editsOf, type Field } from "../edits.js";
import { someOf } from "../filters.js";
import { fragment, type NodeOf, operation } from "../graphql.js";
import { CORE, labelsOf, markingsOf, numberOf, refOf, summaryOf, timeOf } from "../knowledge.js";
import { listPage } from "../lists.js";
import { PAGE } from "../paging.js";
import { knownOf, objectOf, objectsOf, type TargetNode } from "../resolve.js";
import { checkedText, textOf } from "../text.js";
import { checkVocabulary, inputOf, madeOf, noticesOfNew, referencesOf, unkeptOf } from "../writes.js";

const { listEntityNotes, updateNote, deleteNote, createOpinion } = NoteService.method;

const NOTE = fragment(`
  fragment NoteRow on Note {
    id
    attribute_abstract
    content
    note_types
    likelihood
    created_at
    objectMarking {
      definition
    }
    objectLabel {
      value
    }
  }
`);

/** Notes. */
export const LIST_NOTES = operation(
  `
  query ListNotes(
    $search: String
    $first: Int
    $after: ID
    $filters: FilterGroup
    $orderBy: NotesOrdering
    $orderMode: OrderingMode
  ) {
    notes(search: $search, first: $first, after: $after, filters: $filters, orderBy: $orderBy, orderMode: $orderMode) {
      edges {
        node {
          ...NoteRow
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [NOTE, PAGE],
);

/** Changes fields of a note. */
export const UPDATE_NOTE = operation(`
  mutation UpdateNote($id: ID!, $input: [EditInput]!, $commitMessage: String, $references: [String]) {
    noteEdit(id: $id) {
      fieldPatch(input: $input, commitMessage: $commitMessage, references: $references) {
        id
      }
    }
  }
`);

/** Deletes a note. */
export const DELETE_NOTE = operation(`
  mutation DeleteNote($id: ID!) {
    noteEdit(id: $id) {
      delete
    }
  }
`);

/** Writes an opinion. */
export const CREATE_OPINION = operation(
  `
  mutation CreateOpinion($input: OpinionAddInput!) {
    opinionAdd(input: $input) {
      ...Core
      ...Counted
      confidence
    }
  }
`,
  [CORE, COUNTED],
);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listEntityNotes, async (request, platform) => {
    const object = await knownOf(platform, request.objectId, "object_id", true);
    const asked = { ...request, order: Order.UNSPECIFIED };
    const about = { key: ["objects"], values: [object.id] };
    const { nodes, paging } = await listPage(platform, asked, "notes", [about], async (page) => {
      return (await platform.graphql(LIST_NOTES, { ...page, orderBy: page.orderBy && "created_at" })).notes;
    });
    return { notes: nodes.map(noteRowOf), ...paging };
  }),
  unary(updateNote, async (request, platform) => {
    const target = await noteOf(platform, request.noteId);
    const { content, abstract, noteTypes, clearNoteTypes, likelihood, confidence } = request;
    if (noteTypes.length > 0 && clearNoteTypes)
      throw invalidArgument("clear_note_types: cannot be combined with note_types; give one of the two");
    const types = await checkVocabulary(platform, "note_types_ov", noteTypes, "note_types");
    if (content !== undefined) checkedText("content", content);
    const sure: Field = ["confidence", "confidence", confidence];
    const input = editsOf([
      ["content", "content", content],
      ["abstract", "attribute_abstract", abstract],
      ["note_types", "note_types", types.length > 0 || clearNoteTypes ? types : undefined],
      ["likelihood", "likelihood", likelihood],
      sure,
    ]);
    const references = await referencesOf(platform, request.externalReferenceIds, "external_reference_ids");
    await platform.graphql(UPDATE_NOTE, {
      id: target.id,
      input,
      ...(request.commitMessage !== "" && { commitMessage: request.commitMessage }),
      references: someOf(references),
    });
    const written = await objectOf(platform, target.id, "note_id");
    const notices = [
      ...confidenceNotices(sure, target, written),
      ...unkeptOf(request.commitMessage, request.externalReferenceIds),
    ];
    return { result: { object: summaryOf(written), notices } };
  }),
  unary(deleteNote, async ({ noteId }, platform) => {
    const target = await noteOf(platform, noteId);
    await platform.graphql(DELETE_NOTE, { id: target.id });
    await checkGone(platform, target.id);
    return { deleted: refOf(target) };
  }),
  unary(createOpinion, async ({ objectIds, opinion, explanation, refs }, platform) => {
    const [word = ""] = await checkVocabulary(platform, "opinion_ov", [opinion], "opinion");
    const objects = [...new Set((await objectsOf(platform, objectIds, "object_ids", true)).map(({ id }) => id))];
    const input = await inputOf(platform, refs);
    const fields = { ...input, opinion: word, objects, ...textOf("explanation", explanation) };
    const { opinionAdd } = await takingTurns(platform, "Opinion", [word], () =>
      platform.graphql(CREATE_OPINION, { input: fields }),
    );
    const made = madeOf(opinionAdd);
    const notices = noticesOfNew({ refs }, made);
    const held = countOf(made.objects).objectCount;
    if (held !== objects.length) notices.push(`the opinion is attached to ${held} of ${objects.length} objects`);
    return { result: { object: summaryOf(made), notices } };
  }),
];

const noteRowOf = (node: NodeOf<typeof NOTE>) => ({
  id: node.id,
  abstract: node.attribute_abstract ?? "",
  content: shorten(node.content),
  noteTypes: (node.note_types ?? []).filter((type) => type !== null),
  ...numberOf("likelihood", node.likelihood),
  markings: markingsOf(node),
  labels: labelsOf(node),
  ...timeOf("createdAt", node.created_at),
});

async function noteOf(platform: Platform, id: string): Promise<TargetNode> {
  const target = await objectOf(platform, id, "note_id");
  if (target.entity_type !== "Note")
    throw failedPrecondition(
      `note_id: an object of type ${target.entity_type} is not a note; use list_entity_notes to find one`,
    );
  return target;
}
