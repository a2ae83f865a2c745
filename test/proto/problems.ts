import { type FileRegistry, getOption, hasOption } from "@bufbuild/protobuf";
import { scope } from "#proto/auth/v1/access_pb.js";
import { server, tool } from "#proto/mcp/v1/tool_pb.js";
import { commentOf } from "../../services/shared/tools/comments.js";
import { readTools, type Tool } from "../../services/shared/tools/tools.js";
import { nameProblemsOf } from "./names.js";
import { verbProblemsOf } from "./verbs.js";

/** The scopes that are not a server's. */
const COMMON_SCOPES = new Set(["account", "admin", "internal", "public"]);
/** Other people's APIs stay as published; their scopes are given where they are mounted. */
const VENDORED = /^(grpc|opentelemetry)\./;
const NAME = /^[a-zA-Z0-9_-]{1,40}$/;
/** Keywords that make some client drop a tool or its whole list. */
const UNSAFE_KEYWORDS = new Set(["$ref", "anyOf", "oneOf", "allOf", "not", "if", "$defs"]);
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_DESCRIPTION = 2048;

/**
 * Everything in an image that some client would stumble over, or that would
 * leave an rpc open: one line each, none where all is well.
 */
export function problemsOf(image: FileRegistry): string[] {
  const problems: string[] = [];
  for (const desc of image) {
    if (desc.kind !== "service" || VENDORED.test(desc.typeName)) continue;
    for (const method of desc.methods) {
      const at = `${desc.typeName}.${method.name}`;
      if (!hasOption(method, scope) || getOption(method, scope) === "")
        problems.push(`${at} states no (auth.v1.scope)`);
      if (commentOf(method) === "") problems.push(`${at} has no comment`);
      if (!hasOption(method, tool)) continue;
      if (getOption(method, tool).inputSchema !== "") problems.push(`${at} overrides its input schema`);
      if (getOption(desc, server) === "") problems.push(`${at} is a tool of no (mcp.v1.server)`);
    }
  }
  const tools = readTools(image);
  const seen = new Set<string>();
  for (const one of tools) {
    const key = `${one.server}/${one.name}`;
    if (seen.has(key)) problems.push(`${key} is there twice`);
    seen.add(key);
    for (const problem of problemsOfTool(one)) problems.push(`${key} ${problem}`);
  }
  return [...problems, ...nameProblemsOf(image)];
}

/** Lists that say what to add, take away or refer to, and so replace nothing. */
const ADDS = /^(?:add|remove|put|share$|unshare$|external_reference_ids$)/;

/** A list that replaces the one there would clear it where it is left out, or could not clear it at all. */
function* listsThatClear({ name, method }: Tool): Iterable<string> {
  if (!/^(?:update|set)_/.test(name)) return;
  for (const field of method.input.fields) {
    if (field.fieldKind !== "list" || ADDS.test(field.name)) continue;
    const clear = `clear_${field.name.replace(/_ids$/, "s")}`;
    if (!method.input.fields.some((other) => other.name === clear)) yield `replaces ${field.name} and has no ${clear}`;
  }
}

function* problemsOfTool(tool: Tool): Iterable<string> {
  const { name, server: owner, scope: needed, listing, headers } = tool;
  yield* listsThatClear(tool);
  if (!NAME.test(name)) yield "has a name that clients refuse: at most 40 of A-Z a-z 0-9 _ -";
  if (!COMMON_SCOPES.has(needed) && !needed.startsWith(`${owner}:`))
    yield `needs the scope ${needed} of another server`;
  yield* verbProblemsOf(tool);
  if (listing.description.length > MAX_DESCRIPTION) yield `has a description above ${MAX_DESCRIPTION} characters`;
  for (const schema of [listing.inputSchema, listing.outputSchema]) {
    if (schema === undefined) continue;
    if (schema.type !== "object") yield "has a schema whose root is no object";
    yield* problemsOfSchema(schema, "");
  }
  const names = new Set<string>();
  for (const { header } of headers) {
    if (!HEADER.test(header)) yield `has the header name ${JSON.stringify(header)}`;
    if (names.has(header.toLowerCase())) yield `has the header ${header} twice`;
    names.add(header.toLowerCase());
  }
}

function* problemsOfSchema(schema: unknown, path: string): Iterable<string> {
  if (typeof schema !== "object" || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    // Under properties a key is an argument's name, not a keyword.
    const isName = path.endsWith("/properties");
    if (!isName && UNSAFE_KEYWORDS.has(key)) yield `has ${key} in its schema at ${path === "" ? "the root" : path}`;
    if (isName && (typeof value !== "object" || value === null))
      yield `has a schema that is no object at ${path}/${key}`;
    yield* problemsOfSchema(value, isName ? `${path}/${key}/` : `${path}/${key}`);
  }
}
