import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import { type Line, linesOf } from "./explain.js";
import { type Source, sourcesOf } from "./sources.js";
import { TENANT_ARGUMENT } from "./tenant.js";
import type { Tool } from "./tools.js";
import { namesFinder } from "./without-names.js";

// An error that says that there is no such object, or that a value is no id,
// names the tools that return such ids, if the caller has them. Descriptions of
// arguments already name these tools, so no service repeats them.

/** A call that failed. */
export interface FailedCall {
  readonly tool: Tool;
  readonly args: JsonObject;
}

/** Which tools of a server a caller can use. */
export interface Reach {
  /** The names of the tools that the caller has. */
  readonly has: (name: string) => boolean;
  /** The toolset of a tool that only the URL leaves out; undefined for other tools. */
  readonly toolsetLeftOut: (name: string) => string | undefined;
}

/**
 * Says a call's error to the model, as {@link explain} does, with the tools
 * that return the ids that were wrong, and without tools that the caller lacks.
 */
export type ExplainCall = (error: ConnectError, call: FailedCall, reach: Reach) => string | undefined;

/** Prepares {@link ExplainCall} for the tools of one server. */
export function prepareExplainCall(all: readonly Tool[]): ExplainCall {
  const namesIn = namesFinder(all.map(({ name }) => name));
  const reading = namesFinder(all.filter(({ readOnly }) => readOnly).map(({ name }) => name));

  return (error, call, reach) => {
    const lines = linesOf(error);
    return lines
      ?.map((line) => {
        const said = withoutAbsent(line.said, (part) => namesIn(part).some((name) => !reach.has(name)));
        const sources = wrongOf(error.code, line, call, () => sourcesOf(call.tool, reading));
        const hint = hintOf(sources, namesIn(said), reach);
        return hint === "" ? said : `${said}; ${hint}`;
      })
      .join("\n");
  };
}

/** A sentence without the advice, after its first semicolon, that names tools which the caller lacks. */
function withoutAbsent(said: string, names: (part: string) => boolean): string {
  const [first, ...advice] = said.split("; ");
  return [first, ...advice.filter((part) => !names(part))].join("; ");
}

/** The arguments whose values a line calls wrong. */
function wrongOf(code: Code, line: Line, { args }: FailedCall, read: () => Source[]): Source[] {
  if (code !== Code.NotFound && code !== Code.InvalidArgument) return [];
  const { said, path } = line;
  const named = path?.join(".") ?? /^([\w.]+)(?:\[\d+\])?: /.exec(said)?.[1];
  if (code === Code.InvalidArgument) return read().filter((one) => one.isId && isNamed(one, named));

  const sources = read();
  const byName = sources.filter((one) => isNamed(one, named));
  if (byName.length > 0) return byName;
  const given = sources.map((one) => ({ one, values: valuesAt(args, one.path) }));
  const quoted = given.filter(({ values }) => values.some((value) => quotes(said, value)));
  if (quoted.length > 0) return quoted.map(({ one }) => one);
  return given
    .filter(({ one, values }) => one.isId && values.length > 0 && one.path[0] !== TENANT_ARGUMENT)
    .map(({ one }) => one);
}

function isNamed({ path }: Source, named: string | undefined): boolean {
  return named !== undefined && (path.join(".") === named || path.at(-1) === named);
}

/** The texts and numbers that arguments hold at a path, through lists; names are as in the .proto file or in camelCase. */
function valuesAt(json: JsonValue | undefined, [name, ...rest]: readonly string[]): string[] {
  if (Array.isArray(json)) return json.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return typeof json === "string" || typeof json === "number" ? [String(json)] : [];
  if (typeof json !== "object" || json === null) return [];
  return valuesAt(json[name] ?? json[camelCase(name)], rest);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether a sentence holds a value as a whole word. */
function quotes(said: string, value: string): boolean {
  if (value === "") return false;
  for (let at = said.indexOf(value); at !== -1; at = said.indexOf(value, at + 1)) {
    if (!/[\w-]/.test(`${said[at - 1] ?? ""}${said[at + value.length] ?? ""}`)) return true;
  }
  return false;
}

/** The tools to use; "" if a sentence names one of them already, or if the caller has none. */
function hintOf(sources: readonly Source[], said: readonly string[], { has, toolsetLeftOut }: Reach): string {
  const tools = [...new Set(sources.flatMap((one) => one.tools))];
  const what = sources.every(({ isId }) => isId) ? "ids" : "values";
  const here = tools.filter(has);
  if (here.some((name) => said.includes(name))) return "";
  if (here.length > 0) return `${orOf(here)} returns valid ${what}`;
  const toolsets = [...new Set(tools.flatMap((name) => toolsetLeftOut(name) ?? []))];
  return toolsets.length === 0
    ? ""
    : `tools that this URL leaves out return valid ${what}: toolset ${toolsets.join(" or ")}`;
}

function orOf(names: readonly string[]): string {
  return names.length === 1 ? (names[0] as string) : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
