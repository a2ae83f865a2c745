import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { failedPrecondition, notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import type { Platform } from "../../../platform.js";
import { deleteObject } from "../deletion.js";
import { editsOf, type Field, noticesOfChange } from "../edits.js";
import { someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { inSteps } from "../in-steps.js";
import { authorOf, numberOf, refOf, timeOf } from "../knowledge.js";
import { newObservableBindings } from "../new-observables.js";
import { observableById, toldOfObservable } from "../observable-whole.js";
import { INDICATOR, indicatorOf, indicatorRowOf, observableOf } from "../observables.js";
import { nodesOf } from "../paging.js";
import { madeOf, referencesOf } from "../writes.js";

const { getObservable, updateObservable, deleteObservable, promoteObservableToIndicator } = ObservableService.method;

/** Changes fields of an observable. */
export const UPDATE_OBSERVABLE = operation(`
  mutation UpdateObservable($id: ID!, $input: [EditInput]!, $references: [String]) {
    stixCyberObservableEdit(id: $id) {
      fieldPatch(input: $input, references: $references) {
        id
      }
    }
  }
`);

/** The indicators based on an observable. */
export const INDICATORS_OF = operation(`
  query IndicatorsOf($id: String!) {
    stixCyberObservable(id: $id) {
      id
      entity_type
      indicators(first: 500) {
        edges {
          node {
            id
            name
            x_opencti_score
          }
        }
      }
    }
  }
`);

/** Makes an indicator of an observable. */
export const PROMOTE = operation(
  `
  mutation Promote($id: ID!) {
    stixCyberObservableEdit(id: $id) {
      promoteToIndicator {
        ...Ind
      }
    }
  }
`,
  [INDICATOR],
);

/** Kinds that the platform can write no meaningful pattern for; it writes a meaningless one and says nothing. */
const WITHOUT_PATTERN = [
  "Persona",
  "Media-Content",
  "Payment-Card",
  "Bank-Account",
  "Tracking-Number",
  "Credential",
  "AI-Prompt",
  "Text",
];

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(getObservable, async ({ observableId }, platform) => {
    const node = await observableById(platform, observableId);
    return {
      observable: { ...observableOf(node), description: node.x_opencti_description ?? "" },
      fileName: node.file_name ?? "",
      mimeType: node.mime_type ?? "",
      ...numberOf("size", node.size),
      hashes: (node.hashes ?? []).flatMap((one) => (one?.hash ? [{ algorithm: one.algorithm, hash: one.hash }] : [])),
      ...authorOf(node),
      indicators: nodesOf(node.indicators).map(indicatorRowOf),
      containers: nodesOf(node.containers).map(refOf),
      ...timeOf("updatedAt", node.updated_at),
      standardId: node.standard_id,
    };
  }),
  ...newObservableBindings,
  unary(promoteObservableToIndicator, async ({ observableId: id }, platform) => {
    const { stixCyberObservable: before } = await platform.graphql(INDICATORS_OF, { id });
    if (before === null) throw notFound(`observable_id: no observable with the id ${id} exists or is visible to you`);
    if (WITHOUT_PATTERN.includes(before.entity_type)) {
      throw failedPrecondition(
        `observable_id: OpenCTI cannot create a detection pattern for objects of type ${before.entity_type}`,
      );
    }
    return takingTurns(platform, "promotion", [before.id], async () => {
      const { stixCyberObservable } = await platform.graphql(INDICATORS_OF, { id: before.id });
      const known = nodesOf(stixCyberObservable?.indicators).map((indicator) => indicator.id);
      const { stixCyberObservableEdit } = await platform.graphql(PROMOTE, { id: before.id });
      const indicator = madeOf(stixCyberObservableEdit?.promoteToIndicator ?? null);
      return { indicator: indicatorOf(indicator), created: !known.includes(indicator.id) };
    });
  }),
  unary(updateObservable, async (request, platform) => {
    const before = await observableById(platform, request.observableId);
    const fields: readonly Field[] = [
      ["score", "x_opencti_score", request.score],
      ["description", "x_opencti_description", request.description],
    ];
    const input = editsOf(fields);
    const references = await referencesOf(platform, request.externalReferenceIds, "external_reference_ids");
    const scores = request.score === undefined ? new Map() : await scoresOf(platform, before.id);
    // The platform gives the score to each indicator based on the observable after it has changed that.
    await inSteps(
      () => platform.graphql(UPDATE_OBSERVABLE, { id: before.id, input, references: someOf(references) }),
      async () => {
        const { updated_at } = await observableById(platform, before.id);
        return updated_at === before.updated_at
          ? undefined
          : "the observable was changed, but not all indicators based on it";
      },
    );
    const after = await observableById(platform, before.id);
    const notices = noticesOfChange(fields, toldOfObservable(before), toldOfObservable(after));
    if (scores.size > 0) notices.push(...movedOf(scores, await scoresOf(platform, before.id)));
    return { observable: { ...observableOf(after), description: after.x_opencti_description ?? "" }, notices };
  }),
  unary(deleteObservable, async ({ observableId }, platform) => {
    return { deleted: await deleteObject(platform, await observableById(platform, observableId)) };
  }),
];

interface Scored {
  readonly name: string;
  readonly score: number | null;
}

/** The scores of the indicators that are based on an observable, by id. */
async function scoresOf(platform: Platform, id: string): Promise<Map<string, Scored>> {
  const { stixCyberObservable } = await platform.graphql(INDICATORS_OF, { id });
  return new Map(
    nodesOf(stixCyberObservable?.indicators).map((one) => [one.id, { name: one.name, score: one.x_opencti_score }]),
  );
}

/** So many indicators are named. */
const MOST_NAMED = 5;

/** Says which indicators have another score than before. */
function movedOf(before: ReadonlyMap<string, Scored>, after: ReadonlyMap<string, Scored>): string[] {
  const moved = [...after].filter(([id, { score }]) => before.has(id) && before.get(id)?.score !== score);
  if (moved.length === 0) return [];
  const named = moved
    .slice(0, MOST_NAMED)
    .map(([id, { name, score }]) => `${name} (id ${id}) from ${before.get(id)?.score ?? "not set"} to ${score}`);
  const more = moved.length > MOST_NAMED ? ` and ${moved.length - MOST_NAMED} more` : "";
  return [`OpenCTI also changed the score of the indicators based on it: ${named.join(", ")}${more}`];
}
