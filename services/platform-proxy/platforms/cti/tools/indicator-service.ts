import { type CreateIndicatorRequest, IndicatorService } from "#proto/cti/v1/indicator_service_pb.js";
import { type Binding, unary } from "../../../binding.js";
import { takingTurns } from "../../../lib/taking-turns.js";
import { INDICATORS_AROUND, pageOfRows, readWhole } from "../around.js";
import { deleteObject } from "../deletion.js";
import { checkPeriod, editsOf, type Field, isoOf, noticesOfChange } from "../edits.js";
import { someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { inSteps } from "../in-steps.js";
import {
  checkPattern,
  INDICATOR_WHOLE,
  indicatorById,
  ofPattern,
  toldOfIndicator,
  type WholeIndicator,
} from "../indicators.js";
import { textsOf } from "../kinds.js";
import { authorOf, numberOf, refOf, timeOf } from "../knowledge.js";
import { INDICATOR, type IndicatorNode, indicatorOf, indicatorRowOf, observablesOf } from "../observables.js";
import { nodesOf } from "../paging.js";
import { objectOf } from "../resolve.js";
import { checkedText, textOf } from "../text.js";
import { checkTypes } from "../types.js";
import { checkVocabulary, inputOf, madeOf, noticesOfNew, referencesOf } from "../writes.js";

const { getIndicator, listEntityIndicators, createIndicator, updateIndicator, deleteIndicator } =
  IndicatorService.method;

/** Creates an indicator. */
export const CREATE_INDICATOR = operation(
  `
  mutation CreateIndicator($input: IndicatorAddInput!) {
    indicatorAdd(input: $input) {
      ...IndWhole
    }
  }
`,
  [INDICATOR_WHOLE],
);

/** Changes fields of an indicator. */
export const UPDATE_INDICATOR = operation(
  `
  mutation UpdateIndicator($id: ID!, $input: [EditInput!]!, $references: [String]) {
    indicatorFieldPatch(id: $id, input: $input, references: $references) {
      ...Ind
    }
  }
`,
  [INDICATOR],
);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(getIndicator, async ({ indicatorId }, platform) => {
    const node = await indicatorById(platform, indicatorId);
    return {
      indicator: indicatorOf(node),
      description: node.description ?? "",
      ...authorOf(node),
      ...numberOf("confidence", node.confidence),
      ...numberOf("baseScore", node.decay_base_score),
      detection: node.x_opencti_detection ?? false,
      indicatorTypes: textsOf(node.indicator_types),
      killChainPhases: (node.killChainPhases ?? []).map(({ phase_name }) => phase_name),
      platforms: textsOf(node.x_mitre_platforms),
      observables: nodesOf(node.observables).map(refOf),
      ...timeOf("createdAt", node.created_at),
      ...timeOf("updatedAt", node.updated_at),
      standardId: node.standard_id,
    };
  }),
  unary(listEntityIndicators, async (request, platform) => {
    const object = await objectOf(platform, request.objectId);
    const { nodes, isLowerBound } = await readWhole(async (place) => {
      const { stixCoreRelationships } = await platform.graphql(INDICATORS_AROUND, { id: [object.id], ...place });
      return stixCoreRelationships;
    });
    const byId = new Map<string, IndicatorNode>();
    for (const { from } of nodes) if (isIndicator(from)) byId.set(from.id, from);
    const wanted = [...byId.values()].filter((node) => !request.validOnly || isValid(node));
    const query = ["indicators-of", object.id, request.validOnly];
    const { rows, paging } = pageOfRows(request, query, { nodes: wanted, isLowerBound }, newestFirst);
    return { object: refOf(object), indicators: rows.map(indicatorRowOf), ...paging };
  }),
  unary(createIndicator, async (request, platform) => {
    const { refs, mainObservableType, name } = request;
    const [patternType = ""] = await checkVocabulary(
      platform,
      "pattern_type_ov",
      [request.patternType || "stix"],
      "pattern_type",
    );
    if (mainObservableType !== "")
      await checkTypes(platform, [mainObservableType], ["Stix-Cyber-Observable"], "main_observable_type");
    checkPeriod(isoOf(request.validFrom), isoOf(request.validUntil), ["valid_from", "valid_until"]);
    const observed = await observablesOf(platform, request.observableIds, "observable_ids");
    const basedOn = [...new Set(observed.map(({ id }) => id))];
    const input = {
      ...(await inputOf(platform, refs)),
      name: checkedText("name", name),
      pattern: checkedText("pattern", request.pattern),
      pattern_type: patternType,
      ...(mainObservableType !== "" && { x_opencti_main_observable_type: mainObservableType }),
      ...textOf("description", request.description),
      ...(request.validFrom !== undefined && { valid_from: isoOf(request.validFrom) }),
      ...(request.validUntil !== undefined && { valid_until: isoOf(request.validUntil) }),
      ...(request.score !== undefined && { x_opencti_score: request.score }),
      ...(basedOn.length > 0 && { basedOn }),
    };
    const { pattern } = request;
    const { indicatorAdd } = await takingTurns(platform, "Indicator", [pattern.replace(/\s/g, "")], async () => {
      await checkPattern(platform, pattern);
      // The platform relates the indicator to each observable after it has created it.
      return inSteps(
        () => platform.graphql(CREATE_INDICATOR, { input }),
        async () => {
          const half = await ofPattern(platform, pattern);
          return half && `the indicator ${half.name} (id ${half.id}) exists, but not on all observables`;
        },
      );
    });
    const made = await indicatorById(platform, madeOf(indicatorAdd).id);
    const observables = nodesOf(made.observables).map(refOf);
    const notices = [...noticesOfNew({ refs, name: name.trim() }, made), ...differencesOf(request, made)];
    const lost = basedOn.filter((id) => !observables.some((one) => one.id === id));
    if (lost.length > 0) notices.push(`the indicator is not based on ${lost.join(", ")}`);
    return { indicator: indicatorOf(made), observables, notices };
  }),
  unary(updateIndicator, async (request, platform) => {
    const before = await indicatorById(platform, request.indicatorId);
    const fields: readonly Field[] = [
      ["name", "name", request.name === undefined ? undefined : checkedText("name", request.name)],
      ["description", "description", request.description],
      ["score", "x_opencti_score", request.score],
      ["valid_from", "valid_from", isoOf(request.validFrom)],
      ["valid_until", "valid_until", isoOf(request.validUntil)],
      ["revoked", "revoked", request.revoked],
      ["detection", "x_opencti_detection", request.detection],
      ["confidence", "confidence", request.confidence],
    ];
    const input = editsOf(fields);
    checkPeriod(
      isoOf(request.validFrom) ?? before.valid_from ?? undefined,
      isoOf(request.validUntil) ?? (request.validFrom && before.valid_until) ?? undefined,
      ["valid_from", "valid_until"],
    );
    const references = await referencesOf(platform, request.externalReferenceIds, "external_reference_ids");
    await platform.graphql(UPDATE_INDICATOR, { id: before.id, input, references: someOf(references) });
    const after = await indicatorById(platform, before.id);
    const notices = noticesOfChange(fields, toldOfIndicator(before), toldOfIndicator(after));
    return { indicator: indicatorOf(after), notices };
  }),
  unary(deleteIndicator, async ({ indicatorId }, platform) => {
    return { deleted: await deleteObject(platform, await indicatorById(platform, indicatorId)) };
  }),
];

const isIndicator = (end: Partial<IndicatorNode> | null): end is IndicatorNode => end?.id !== undefined;

/** Holds now, not later and no longer, and is not withdrawn. */
function isValid({ revoked, valid_from, valid_until }: IndicatorNode): boolean {
  const now = Date.now();
  return (
    !revoked &&
    valid_from !== null &&
    Date.parse(valid_from) <= now &&
    valid_until !== null &&
    Date.parse(valid_until) > now
  );
}

const LATEST = 1e15;

const newestFirst = ({ id, created_at }: IndicatorNode): string =>
  `${String(LATEST - Date.parse(created_at)).padStart(16, "0")} ${id}`;

/** Where a new indicator differs from what was asked: platforms that lower scores with time set the validity themselves. */
function differencesOf(request: CreateIndicatorRequest, made: WholeIndicator): string[] {
  const notices: string[] = [];
  const until = isoOf(request.validUntil);
  if (until !== undefined && Date.parse(made.valid_until ?? "") !== Date.parse(until))
    notices.push(`valid_until is ${made.valid_until ?? "not set"}, not ${until}: OpenCTI derives it from the score`);
  if (made.revoked) notices.push("the indicator is already revoked because its validity has ended");
  if (request.score !== undefined && made.x_opencti_score !== request.score)
    notices.push(`the score is ${made.x_opencti_score ?? "not set"}, not ${request.score}`);
  return notices;
}
