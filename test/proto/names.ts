import { type DescField, type DescMessage, type FileRegistry, getOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";
import { field as rules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { commentOf } from "../../services/shared/tools/comments.js";
import { readTools, type Tool } from "../../services/shared/tools/tools.js";

// The names of docs/api-style.md, as far as a program can see them.

/** Names of the argument that is called `query` everywhere. */
const FREE_TEXT = new Set(["text", "search", "q", "keyword", "keywords"]);

/** Ids in results that are no references to objects of ours, by who fixes the name. */
const FIXED_IDS: Readonly<Record<string, string>> = {
  trace_id: "W3C Trace Context",
  span_id: "W3C Trace Context",
  parent_span_id: "W3C Trace Context",
  standard_id: "STIX 2.1, section 2.9: the deterministic id",
  external_id: "STIX 2.1, section 2.5: external references",
  ref_id: "the framework that a requirement is of",
  request_id: "AIP-155",
};

/** Words of which another one is used everywhere, and which. */
const OTHER_WORDS: Readonly<Record<string, string>> = { tag: "label", tags: "labels" };

/** The most bytes that a tool takes in tools/list, on average: over all servers, and over one server. */
const MAX_BYTES_A_TOOL = 1_210;
const MAX_BYTES_OF: Readonly<Record<string, number>> = { grc: 1_188 };

/** Where tools name things in other words than docs/api-style.md settles: one line each. */
export function nameProblemsOf(image: FileRegistry): string[] {
  const tools = readTools(image);
  const problems = tools.flatMap((tool) =>
    [...problemsOf(tool)].map((problem) => `${tool.server}/${tool.name} ${problem}`),
  );
  const of = (server: string) => tools.filter((tool) => tool.server === server);
  for (const [server, most] of Object.entries(MAX_BYTES_OF))
    problems.push(...tooLong(`tools/list of ${server}`, of(server), most));
  return [...problems, ...tooLong("tools/list", tools, MAX_BYTES_A_TOOL)];
}

function tooLong(list: string, tools: readonly Tool[], most: number): string[] {
  const bytes = bytesPerTool(tools);
  return bytes > most ? [`${list} takes ${bytes} bytes a tool, more than ${most}`] : [];
}

/** The bytes of tools/list, as it is served where nobody asks for output schemas, by tool. */
export function bytesPerTool(tools: readonly Tool[]): number {
  const bytes = tools.map(({ listing: { outputSchema: _, ...listing } }) => Buffer.byteLength(JSON.stringify(listing)));
  return Math.ceil(bytes.reduce((sum, one) => sum + one, 0) / Math.max(1, tools.length));
}

function* problemsOf({ method, result }: Tool): Iterable<string> {
  for (const argument of method.input.fields) {
    const { name } = argument;
    if (FREE_TEXT.has(name) && argument.scalar === ScalarType.STRING) yield `takes ${name}, which is called query`;
    if (name === "id" || name === "ids") yield `takes ${name}, which is named by its noun: object_${name}`;
  }
  yield* pagingProblemsOf(method.input, result);
  for (const { message, field } of fieldsWithin(result)) {
    const at = `${message.name}.${field.name}`;
    if (/_ids?$/.test(field.name) && FIXED_IDS[field.name] === undefined)
      yield `answers ${at}, which is a reference: {id, name}`;
  }
  for (const { message, field } of [...fieldsWithin(method.input), ...fieldsWithin(result)]) {
    for (const word of field.name.split("_")) {
      const other = OTHER_WORDS[word];
      if (other !== undefined) yield `says ${word} in ${message.name}.${field.name}, which is called ${other}`;
    }
  }
  for (const field of result.fields) {
    const inner = field.fieldKind === "list" && field.message !== undefined ? wrappedIn(field.message) : undefined;
    if (inner !== undefined) yield `answers ${field.name} with each row inside ${inner}`;
  }
}

/** The member that is the whole row, where a row has no id of its own; a reference is no row. */
function wrappedIn(row: DescMessage): string | undefined {
  if (row.field.id !== undefined) return undefined;
  const members = row.fields.filter((field) => field.fieldKind === "message" && field.message.field.id !== undefined);
  const [only] = members;
  return members.length === 1 && !isReference(only?.message as DescMessage) ? only?.name : undefined;
}

const REFERENCE = new Set(["id", "name", "type"]);
const isReference = ({ fields }: DescMessage) => fields.every(({ name }) => REFERENCE.has(name));

interface Place {
  readonly message: DescMessage;
  readonly field: DescField;
}

/** Every field of a message and of those inside it, each message once. */
function fieldsWithin(root: DescMessage): Place[] {
  const seen = new Set<DescMessage>([root]);
  // A set takes what is added while it is walked.
  for (const message of seen) for (const { message: inner } of message.fields) if (inner !== undefined) seen.add(inner);
  return [...seen].flatMap((message) => message.fields.map((field) => ({ message, field })));
}

interface PagingField {
  readonly scalar: ScalarType;
  readonly presence: Presence;
  readonly comment: RegExp;
}

const REQUEST: Readonly<Record<string, PagingField>> = {
  page_size: {
    scalar: ScalarType.INT32,
    presence: Presence.EXPLICIT,
    comment: /^Rows per page; \d+ if not given\.$/,
  },
  page_token: {
    scalar: ScalarType.STRING,
    presence: Presence.IMPLICIT,
    comment: /^The next_page_token of the previous page\.$/,
  },
};

const RESPONSE: Readonly<Record<string, PagingField>> = {
  next_page_token: {
    scalar: ScalarType.STRING,
    presence: Presence.EXPLICIT,
    comment: /^Token of the next page; absent on the last page\.$/,
  },
  total_size: { scalar: ScalarType.INT32, presence: Presence.IMPLICIT, comment: /^Number of rows on all pages\.$/ },
  total_size_is_lower_bound: {
    scalar: ScalarType.BOOL,
    presence: Presence.EXPLICIT,
    comment: /^Set if there may be more than total_size\.$/,
  },
};

/** Of our own records, which are counted only where that costs nothing. */
const UNCOUNTED: Readonly<Record<string, PagingField>> = {
  next_page_token: RESPONSE.next_page_token!,
  total_size: {
    scalar: ScalarType.INT32,
    presence: Presence.EXPLICIT,
    comment: /^Number of rows on all pages; absent if they are not counted\.( Spans of one trace are\.)?$/,
  },
};

/** A list has all fields of paging, or none of them. */
function* pagingProblemsOf(request: DescMessage, response: DescMessage): Iterable<string> {
  const paged = [...request.fields, ...response.fields].some(({ name }) => name in REQUEST || name in RESPONSE);
  if (!paged) return;
  const total = response.fields.find(({ name }) => name === "total_size");
  const told = total?.presence === Presence.EXPLICIT ? UNCOUNTED : RESPONSE;
  for (const [message, shape] of [
    [request, REQUEST],
    [response, told],
  ] as const) {
    for (const [name, wanted] of Object.entries(shape)) {
      const found = message.fields.find((field) => field.name === name);
      if (found === undefined) yield `is paged without ${message.name}.${name}`;
      else if (found.scalar !== wanted.scalar || found.presence !== wanted.presence)
        yield `has ${message.name}.${name} of another type than every list`;
      else if (!wanted.comment.test(commentOf(found))) yield `says of ${name} what other lists do not say`;
    }
  }
  const size = request.fields.find(({ name }) => name === "page_size");
  const { type } = getOption(size as DescField, rules);
  const bounds = type.case === "int32" ? type.value : undefined;
  if (bounds?.greaterThan.value !== 1 || bounds.greaterThan.case !== "gte" || bounds.lessThan.value !== 100)
    yield "takes a page_size that is not bounded by 1 and 100";
  const last = response.fields.slice(-Object.keys(told).length).map(({ name }) => name);
  if (last.join() !== Object.keys(told).join()) yield `does not end ${response.name} with the fields of paging`;
}
