import {
  type CreateObservableRequest,
  type FileHashes,
  ObservableService,
} from "#proto/cti/v1/observable_service_pb.js";
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import type { Platform } from "../../../platform.js";
import { deleteObject } from "../deletion.js";
import { editsOf, type Field, noticesOfChange } from "../edits.js";
import { someOf } from "../filters.js";
import { operation } from "../graphql.js";
import { inSteps } from "../in-steps.js";
import { authorOf, numberOf, refOf, timeOf } from "../knowledge.js";
import { observableById, toldOfObservable } from "../observable-whole.js";
import {
  INDICATOR,
  indicatorOf,
  indicatorRowOf,
  OBSERVABLE,
  type ObservableNode,
  observableOf,
} from "../observables.js";
import { nodesOf } from "../paging.js";
import { any, type Filter } from "../resolve.js";
import { canonicalOf, spellingsOf } from "../spellings.js";
import { refang, textOf } from "../text.js";
import { inputOf, madeOf, referencesOf } from "../writes.js";

const { getObservable, createObservable, updateObservable, deleteObservable, promoteObservableToIndicator } =
  ObservableService.method;

interface Kind {
  /** As the platform names the type. */
  readonly type: string;
  /** The argument that carries its fields, and that argument's type. */
  readonly argument: string;
  /** The field of the value. */
  readonly field: "value" | "name";
}

const kind = (type: string, argument = type.replaceAll("-", ""), field: Kind["field"] = "value"): Kind => ({
  type,
  argument,
  field,
});

/** How each kind of observable is written at the platform, by its type. */
export const OBSERVABLE_KINDS: ReadonlyMap<string, Kind> = new Map(
  [
    kind("IPv4-Addr"),
    kind("IPv6-Addr"),
    kind("Domain-Name"),
    kind("Hostname"),
    kind("Url"),
    kind("Email-Addr"),
    kind("StixFile", "StixFile", "name"),
    kind("Mac-Addr"),
    kind("Mutex", "Mutex", "name"),
    kind("User-Agent"),
    kind("Cryptocurrency-Wallet"),
    kind("Text"),
  ].map((one) => [one.type, one]),
);

const CREATE_FILE = operation(
  `
  mutation CreateObservable(
    $type: String!
    $score: Int
    $description: String
    $createdBy: String
    $objectMarking: [String]
    $objectLabel: [String]
    $externalReferences: [String]
    $fields: StixFileAddInput
  ) {
    stixCyberObservableAdd(
      type: $type
      x_opencti_score: $score
      x_opencti_description: $description
      createdBy: $createdBy
      objectMarking: $objectMarking
      objectLabel: $objectLabel
      externalReferences: $externalReferences
      StixFile: $fields
    ) {
      ...Obs
    }
  }
`,
  [OBSERVABLE],
);

/** What creates an observable, by its kind's argument. */
export const CREATE: ReadonlyMap<string, typeof CREATE_FILE> = new Map(
  [...OBSERVABLE_KINDS.values()].map(({ argument }) => {
    return [argument, { ...CREATE_FILE, text: CREATE_FILE.text.replaceAll("StixFile", argument) }];
  }),
);

/** An observable of a value. */
export const SAME_OBSERVABLE = operation(`
  query SameObservable($types: [String], $filters: FilterGroup) {
    stixCyberObservables(types: $types, filters: $filters, first: 1) {
      edges {
        node {
          id
          observable_value
        }
      }
    }
  }
`);

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

// Values that mean text, not an address, are kept as they are.
const VERBATIM = ["Text", "Mutex", "User-Agent", "StixFile"];

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
  unary(createObservable, async (request, platform) => {
    const { type, score, description, refs } = request;
    const made = OBSERVABLE_KINDS.get(type);
    if (made === undefined)
      throw invalidArgument(
        `type: create_observable cannot create objects of type ${type}; use one of: ${[...OBSERVABLE_KINDS.keys()].join(", ")}`,
      );
    if (request.hashes !== undefined && type !== "StixFile")
      throw invalidArgument("hashes: only a file (StixFile) has hashes");
    const value = VERBATIM.includes(type) ? request.value.trim() : canonicalOf(request.value);
    const hashes = hashesOf(request.hashes);
    if (value === "" && hashes.length === 0) throw invalidArgument("value: must not be blank");
    const { confidence, ...input } = await inputOf(platform, refs);

    const same = { types: [made.type], filters: any(...sameAs(made, value, hashes)) };
    const { stixCyberObservables } = await platform.graphql(SAME_OBSERVABLE, same);
    const [existing] = nodesOf(stixCyberObservables);
    if (existing !== undefined) {
      throw alreadyExists(
        `nothing was written: OpenCTI already has the observable ${existing.observable_value} (id ${existing.id}); change it with update_observable`,
      );
    }
    const { stixCyberObservableAdd } = await platform.graphql(CREATE.get(made.argument) ?? CREATE_FILE, {
      type: made.type,
      ...(score !== undefined && { score }),
      ...textOf("description", description),
      ...input,
      fields: { ...(value !== "" && { [made.field]: value }), ...(hashes.length > 0 && { hashes }) },
    });
    const written = madeOf(stixCyberObservableAdd);
    return { observable: observableOf(written), notices: noticesOf(request, value, written, confidence) };
  }),
  unary(promoteObservableToIndicator, async ({ observableId: id }, platform) => {
    const { stixCyberObservable: before } = await platform.graphql(INDICATORS_OF, { id });
    if (before === null) throw notFound(`observable_id: no observable with the id ${id} exists or is visible to you`);
    if (WITHOUT_PATTERN.includes(before.entity_type)) {
      throw failedPrecondition(
        `observable_id: OpenCTI cannot create a detection pattern for objects of type ${before.entity_type}`,
      );
    }
    const known = nodesOf(before.indicators).map((indicator) => indicator.id);
    const { stixCyberObservableEdit } = await platform.graphql(PROMOTE, { id: before.id });
    const indicator = madeOf(stixCyberObservableEdit?.promoteToIndicator ?? null);
    return { indicator: indicatorOf(indicator), created: !known.includes(indicator.id) };
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

interface Hash {
  readonly algorithm: string;
  readonly hash: string;
}

function hashesOf(hashes: FileHashes | undefined): Hash[] {
  const given = [
    ["MD5", hashes?.md5],
    ["SHA-1", hashes?.sha1],
    ["SHA-256", hashes?.sha256],
    ["SHA-512", hashes?.sha512],
  ] as const;
  return given.flatMap(([algorithm, hash]) => (hash === undefined ? [] : [{ algorithm, hash: hash.toLowerCase() }]));
}

/** What would be taken for the same observable: the value, or for a file any of its hashes. */
function sameAs({ type, field }: Kind, value: string, hashes: readonly Hash[]): Filter[] {
  if (hashes.length > 0) return hashes.map(({ algorithm, hash }) => ({ key: [`hashes.${algorithm}`], values: [hash] }));
  return [{ key: [field], values: VERBATIM.includes(type) ? [value] : spellingsOf(value) }];
}

function noticesOf(
  asked: CreateObservableRequest,
  value: string,
  written: ObservableNode,
  confidence: unknown,
): string[] {
  const notices: string[] = [];
  if (value !== asked.value.trim() && asked.value !== "")
    notices.push(`the value was ${value === refang(asked.value) ? "refanged to" : "written as"} ${value}`);
  if (confidence !== undefined) notices.push("the confidence was not saved because observables have no confidence");
  if (asked.score !== undefined && written.x_opencti_score !== asked.score)
    notices.push(`the score is ${written.x_opencti_score ?? "not set"}, not ${asked.score}`);
  return notices;
}
