import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import type { Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import type { Context } from "../../context.js";
import { isSameTool } from "../../kinds/custom-tools/fixed.js";
import type { CustomToolRecord } from "../../kinds/custom-tools/record.js";
import { lacksValue, type VariableRecord } from "../../kinds/variables/record.js";
import { readable } from "../../objects/gate.js";
import { leaveOut, leftOut } from "../../objects/left-out.js";
import type { HttpAnswer, HttpRequest } from "../apart/http.js";
import { CUSTOM_TOOLS, failureOf, mayBeDone, UNSURE } from "../outgoing.js";
import type { Redactor } from "../redact.js";
import { variableValue } from "../secrets.js";
import type { AgentTool } from "./agent-tool.js";
import { fitArguments } from "./fit-arguments.js";

/** Longest answer that a model is shown, in characters. */
const SHOWN = 40 * 1024;
/** Methods whose arguments go into the query where they are not written into the URL; the others send them as JSON. */
const QUERYING: ReadonlySet<string> = new Set(["get", "head", "delete"]);

/** What a custom tool is called with. */
export interface CustomToolParts {
  readonly context: Context;
  readonly redactor: Redactor;
}

/**
 * A custom tool as a run offers it: one HTTP request, of the tool as it was when the run began. What it answers other
 * than 2xx, a redirect among it, is a failure that the model is told.
 */
export function customTool(record: CustomToolRecord, name: string, parts: CustomToolParts): AgentTool {
  return {
    name,
    label: `custom/${record.name}`,
    description: record.description === "" ? record.name : record.description,
    parameters: JSON.parse(record.input_schema) as AgentTool["parameters"],
    known: `custom/${record.name}`,
    target: record._id,
    readsOutside: true,
    writesOutside: record.method !== "get" && record.method !== "head",
    // What a GET does is its service's matter: it is not sent again where it is not known how it went.
    readOnly: false,
    async call(args, { caller, signal }) {
      const tool = await current(parts.context, record, caller);
      const { args: fitted, matches } = fitArguments(tool.input_schema, args);
      const { url, body } = requestOf(tool, fitted);
      const headers = await headersFor(tool, parts);
      const method = tool.method.toUpperCase();
      const { context, redactor } = parts;
      const init = body === undefined ? {} : { body };
      const request: HttpRequest = { url, method, headers, ...init, matches, policy: context.outgoing };
      const remote = { id: tool._id, owner: tool.owner };
      const patience = { ms: tool.timeout_seconds * 1_000, signal };
      try {
        const answer = await context.isolation.call(CUSTOM_TOOLS, remote, "send", JSON.stringify(request), patience);
        return saidOf(JSON.parse(answer as string) as HttpAnswer, redactor);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof HttpFailure) throw failedPrecondition(error.message);
        const why = failureOf(error, redactor);
        if (mayBeDone(error)) throw failedPrecondition(`${why}: ${UNSURE}`);
        if (!(error instanceof MisbehavedError)) throw failedPrecondition(`it could not be called: ${why}`);
        await leaveOut(context, "custom tool", tool._id, error, why);
        throw failedPrecondition(`${why}: ${UNSURE}, and the tool is not used for a while`);
      }
    },
  };
}

/** The tool, if the caller may still use it and it is the one that the run was given. */
async function current(context: Context, record: CustomToolRecord, caller: Caller): Promise<CustomToolRecord> {
  const found = (await readable(context, "custom tool", record._id, caller)) as CustomToolRecord;
  if (!found.enabled) throw failedPrecondition("this custom tool is disabled");
  if (!isSameTool(record, found)) throw failedPrecondition("this custom tool was changed after the run began");
  const why = leftOut(found);
  if (why !== undefined) throw failedPrecondition(`it was not called: ${why}`);
  return found;
}

/** Where a call goes and what it sends. @throws ConnectError invalid_argument, in words for the model. */
function requestOf(
  { url, method }: Pick<CustomToolRecord, "url" | "method">,
  args: JsonObject,
): { readonly url: string; readonly body?: string } {
  const left = new Map(Object.entries(args));
  const written = url.replace(/\{([^{}]*)\}/g, (_place, name: string) => {
    const value = args[name];
    if (value === undefined || value === null) throw invalidArgument(`the argument ${name} is missing`);
    left.delete(name);
    return encodeURIComponent(textOf(value));
  });
  // Written in any way these lead elsewhere (WHATWG URL, "double-dot URL path segment").
  if (/\/\.{1,2}(?:[/?#]|$)/.test(written.replace(/\?.*$/s, "")))
    throw invalidArgument("an argument turns a part of the path into . or .., which leads to another path");
  if (!QUERYING.has(method)) return { url: written, body: JSON.stringify(Object.fromEntries(left)) };
  const target = new URL(written);
  for (const [name, value] of left) target.searchParams.append(name, textOf(value));
  return { url: target.href };
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A variable that a header takes goes with the tool: who may use the tool need not see it. */
async function headersFor(
  { headers, method }: CustomToolRecord,
  { context, redactor }: CustomToolParts,
): Promise<Record<string, string>> {
  const sent: Record<string, string> = QUERYING.has(method) ? {} : { "Content-Type": "application/json" };
  for (const { name, value, variable } of headers ?? []) {
    const found =
      variable === "" ? null : await context.collection<VariableRecord>("variable").findOne({ _id: variable });
    if (variable !== "" && (found === null || !found.enabled))
      throw failedPrecondition(`the variable of its header ${name} was deleted or is disabled`);
    if (found !== null && lacksValue(found))
      throw failedPrecondition(`the variable of its header ${name} has no value: set one with update_variable`);
    sent[name] = value + (found === null ? "" : variableValue(context, found, redactor));
  }
  return sent;
}

/** The service answered, and not well. */
class HttpFailure extends Error {}

/** What is secret is taken out before the end is cut off: of one that is cut in two nothing would be found. */
function saidOf({ status, location, text: whole }: HttpAnswer, redactor: Redactor): string {
  const text = shorten(redactor.redactBeginning(whole), SHOWN);
  if (status >= 200 && status < 300) return text === "" ? `HTTP ${status}, without a body` : text;
  const to =
    status >= 300 && status < 400
      ? `, a redirect to ${redactor.redactBeginning(location)}, which the service does not follow`
      : "";
  throw new HttpFailure(`HTTP ${status}${to}${text === "" ? "" : `: ${text}`}`);
}
