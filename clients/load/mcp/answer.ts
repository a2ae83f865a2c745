import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type Answer, MAX_BYTES } from "../http/reader.js";
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
/** What is searched for, in bytes: to make a text of a large answer costs more than to search it. */
const RESULT = Buffer.from('"result"');
const IS_ERROR = Buffer.from('"isError"');
const TRUE = /^\s*:\s*true/;
/** The most characters from a name to its value that are read. */
const MAX_SPACE = 64;
/** A few bytes of a server can become gigabytes. */
const BOUND = { maxOutputLength: MAX_BYTES };
/** Characters of a server's words that are kept. */
const MAX_DETAIL = 200;
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

/** The request that was sent. */
export interface Asked {
  readonly id: number;
  /** Whether a tool was called: only then can a result be an error of the tool. */
  readonly isCall: boolean;
}

/** Says whether an answer is a good one: status 200, a result, the same id, and not an error of the tool. */
export function judge(answer: Answer, asked: Asked): Verdict {
  const isStream = (answer.headers["content-type"] ?? "").startsWith("text/event-stream");
  const { failure, detail, server } = answer.status === 200 ? judgeBody(answer, asked, isStream) : refusedBy(answer);
  return {
    isStream,
    ...(failure !== undefined && { failure }),
    ...(detail !== undefined && { detail: detail.slice(0, MAX_DETAIL) }),
    ...(server !== undefined && { server }),
  };
}

type Read = Omit<Verdict, "isStream">;

function judgeBody(answer: Answer, asked: Asked, isStream: boolean): Read {
  const bytes = bytesOf(answer);
  if (bytes === undefined) return { failure: "not_readable", detail: "the answer's content-encoding cannot be read" };
  if (!isStream) return judgeMessage(bytes, asked);
  const last = eventsOf(bytes.toString()).findLast((data) => data.includes('"result"') || data.includes('"error"'));
  return last === undefined
    ? { failure: "no_result", detail: "the stream ended without an answer" }
    : judgeMessage(Buffer.from(last), asked);
}

function judgeMessage(bytes: Buffer, { id, isCall }: Asked): Read {
  if (bytes.length > PARSED_BYTES) return searched(bytes, isCall);
  const text = bytes.toString();
  const message = objectOf(text);
  if (message === undefined) return { failure: "not_json", detail: text };
  const { error, result } = message;
  if (isObject(error)) {
    const code = Number.isSafeInteger(error.code) ? error.code : "without_code";
    return { failure: `rpc_${code}`, detail: String(error.message) };
  }
  if (!isObject(result)) return { failure: "no_result", detail: "the answer has neither result nor error" };
  if (message.id !== id) return { failure: "wrong_id", detail: "the answer has the id of another request" };
  if (isCall && result.isError === true) return { failure: "tool_error", detail: firstText(result.content) };
  const info = isObject(result.serverInfo) ? result.serverInfo : isObject(result._meta) && result._meta[SERVER_INFO];
  return isObject(info) ? { server: `${String(info.name)} ${String(info.version)}` } : {};
}

/** Judges an answer by what it says somewhere. */
function searched(bytes: Buffer, isCall: boolean): Read {
  if (!bytes.includes(RESULT)) return { failure: "no_result", detail: "the answer has neither result nor error" };
  if (!isCall) return {};
  for (let at = bytes.indexOf(IS_ERROR); at !== -1; at = bytes.indexOf(IS_ERROR, at + IS_ERROR.length)) {
    const value = at + IS_ERROR.length;
    if (TRUE.test(bytes.toString("latin1", value, value + MAX_SPACE))) return { failure: "tool_error" };
  }
  return {};
}

function refusedBy(answer: Answer): Read {
  const text = bytesOf(answer)?.toString() ?? "";
  const error = objectOf(text)?.error;
  const detail = isObject(error) && typeof error.message === "string" ? error.message : text;
  return { failure: `http_${answer.status}`, detail };
}

/** The bytes of an answer as they were before they were compressed; undefined if the encoding is unknown, or broken. */
function bytesOf({ headers, body }: Answer): Buffer | undefined {
  const encoding = headers["content-encoding"] ?? "identity";
  try {
    if (encoding === "identity") return body;
    if (encoding === "gzip") return gunzipSync(body, BOUND);
    return encoding === "br" ? brotliDecompressSync(body, BOUND) : undefined;
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
