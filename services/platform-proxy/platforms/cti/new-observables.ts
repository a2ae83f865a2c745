import {
  type CreateObservableRequest,
  type FileHashes,
  ObservableService,
} from "#proto/cti/v1/observable_service_pb.js";
import { alreadyExists, invalidArgument } from "../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../binding.js";
import { takingTurns } from "../../lib/taking-turns.js";
import { operation } from "./graphql.js";
import { OBSERVABLE, type ObservableNode, observableOf } from "./observables.js";
import { nodesOf } from "./paging.js";
import { any, type Filter } from "./resolve.js";
import { canonicalOf, spellingsOf } from "./spellings.js";
import { refang, textOf } from "./text.js";
import { inputOf, madeOf } from "./writes.js";

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

/** Of an address, each group may have zeros in front: at most eight. */
const MOST_SPELLINGS = 512;

// Values that mean text, not an address, are kept as they are.
const VERBATIM = ["Text", "Mutex", "User-Agent", "StixFile"];

/** How observables are created. */
export const newObservableBindings: readonly Binding[] = [
  unary(ObservableService.method.createObservable, async (request, platform) => {
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
    const document = CREATE.get(made.argument) ?? CREATE_FILE;
    const variables = {
      type: made.type,
      ...(score !== undefined && { score }),
      ...textOf("description", description),
      ...input,
      fields: { ...(value !== "" && { [made.field]: value }), ...(hashes.length > 0 && { hashes }) },
    };
    const names = hashes.length > 0 ? hashes.map(({ hash }) => hash) : [value];
    const { stixCyberObservableAdd } = await takingTurns(platform, made.type, names, async () => {
      const { stixCyberObservables } = await platform.graphql(SAME_OBSERVABLE, same);
      const [existing] = nodesOf(stixCyberObservables);
      if (existing !== undefined)
        throw alreadyExists(
          `nothing was written: OpenCTI already has the observable ${existing.observable_value} (id ${existing.id}); change it with update_observable`,
        );
      return platform.graphql(document, variables);
    });
    const written = madeOf(stixCyberObservableAdd);
    return { observable: observableOf(written), notices: noticesOf(request, value, written, confidence) };
  }),
];

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
  return [{ key: [field], values: VERBATIM.includes(type) ? [value] : spellingsOf(value, MOST_SPELLINGS) }];
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
