import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type Answer, MAX_BYTES } from "../connection.js";
import { eventsOf } from "./event-stream.js";

/** What became of a request. */
export interface Verdict {
  /** undefined if it succeeded; otherwise a stable word, such as http_429, rpc_-32602 or tool_error. */
  readonly failure?: string;
  /** The server's own words for a failure, cut; may hold what was sent. */
  readonly detail?: string;
  /** Whether the answer was an event stream. */
  readonly isStream: boolean;
  /** The name and version that the server gives for itself, if the answer has them. */
  readonly server?: string;
}

/** Answers above this size are searched and not parsed: a list of 130 KB takes a millisecond to parse. */
const PARSED_BYTES = 64 * 1_024;
/** A few bytes of a server can become gigabytes. */
const BOUND = { maxOutputLength: MAX_BYTES };
/** Characters of a server's words that are kept. */
const MAX_DETAIL = 200;
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

/** Says whether an answer is a good one: status 200, a result, the same id, and not an error of the tool. */
export function judge(answer: Answer, id: number): Verdict {
  const isStream = (answer.headers["content-type"] ?? "").startsWith("text/event-stream");
  const { failure, detail, server } = answer.status === 200 ? judgeText(answer, id, isStream) : refusedBy(answer);
  return {
    isStream,
    ...(failure !== undefined && { failure }),
    ...(detail !== undefined && { detail: detail.slice(0, MAX_DETAIL) }),
    ...(server !== undefined && { server }),
  };
}

type Read = Omit<Verdict, "isStream">;

function judgeText(answer: Answer, id: number, isStream: boolean): Read {
  const text = textOf(answer);
  if (text === undefined) return { failure: "not_readable", detail: "the answer's content-encoding cannot be read" };
  if (!isStream) return judgeMessage(text, id);
  const last = eventsOf(text).findLast((data) => data.includes('"result"') || data.includes('"error"'));
  return last === undefined
    ? { failure: "no_result", detail: "the stream ended without an answer" }
    : judgeMessage(last, id);
}

function judgeMessage(text: string, id: number): Read {
  if (text.length > PARSED_BYTES) {
    if (!text.includes('"result"')) return { failure: "no_result", detail: "the answer has neither result nor error" };
    return /"isError"\s*:\s*true/.test(text) ? { failure: "tool_error" } : {};
  }
  const message = objectOf(text);
  if (message === undefined) return { failure: "not_json", detail: text };
  const { error, result } = message;
  if (isObject(error)) {
    const code = Number.isSafeInteger(error.code) ? error.code : "without_code";
    return { failure: `rpc_${code}`, detail: String(error.message) };
  }
  if (!isObject(result)) return { failure: "no_result", detail: "the answer has neither result nor error" };
  if (message.id !== id) return { failure: "wrong_id", detail: "the answer has the id of another request" };
  if (result.isError === true) return { failure: "tool_error", detail: firstText(result.content) };
  const info = isObject(result.serverInfo) ? result.serverInfo : isObject(result._meta) && result._meta[SERVER_INFO];
  return isObject(info) ? { server: `${String(info.name)} ${String(info.version)}` } : {};
}

function refusedBy(answer: Answer): Read {
  const text = textOf(answer) ?? "";
  const error = objectOf(text)?.error;
  const detail = isObject(error) && typeof error.message === "string" ? error.message : text;
  return { failure: `http_${answer.status}`, detail };
}

/** The text of an answer; undefined if its encoding is unknown, or broken. */
function textOf({ headers, body }: Answer): string | undefined {
  const encoding = headers["content-encoding"] ?? "identity";
  try {
    if (encoding === "identity") return body.toString();
    if (encoding === "gzip") return gunzipSync(body, BOUND).toString();
    return encoding === "br" ? brotliDecompressSync(body, BOUND).toString() : undefined;
  } catch {
    return undefined;
  }
}

function firstText(content: unknown): string {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isObject(first) ? String(first.text) : "";
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
