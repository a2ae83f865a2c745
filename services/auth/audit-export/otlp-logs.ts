import { VERSION } from "../../shared/process/version.js";
import { type AuditReceiver, SEND_MS } from "./receiver.js";
import type { ExportedRecord } from "./record.js";

/** SEVERITY_NUMBER_INFO and SEVERITY_NUMBER_WARN of OTLP. */
const INFO = 9;
const WARN = 13;
/** The most of an answer that is read, in bytes. */
const ANSWER = 8 << 10;

/**
 * Sends records as OTLP logs, JSON over HTTP (opentelemetry.io/docs/specs/otlp). A record's attributes are its members
 * with `audit.` in front, those that have a name in the semantic conventions with that.
 *
 * @param headers of each request, such as the receiver's credential.
 */
export function otlpLogs(url: URL, headers: Readonly<Record<string, string>>, serviceName: string): AuditReceiver {
  const resource = { attributes: attributesOf({ "service.name": serviceName, "service.version": VERSION }) };
  return {
    async send(records, signal) {
      const scopeLogs = [{ scope: { name: "sallyport.audit", version: VERSION }, logRecords: records.map(logOf) }];
      const answer = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs }] }),
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]),
      });
      const text = await beginningOf(answer);
      if (!answer.ok) throw new Error(`the receiver answered with ${answer.status}`);
      const rejected = rejectedIn(text);
      if (rejected > 0) throw new Error(`the receiver rejected ${rejected} of ${records.length} records`);
    },
  };
}

async function beginningOf(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    // The rest is not read: to leave the loop ends the connection.
    if (bytes > ANSWER) break;
  }
  return Buffer.concat(pieces).toString("utf8", 0, ANSWER);
}

/** How many records a receiver says it did not take (`partial_success`); 0 where it says nothing. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedLogRecords?: unknown } };
    return Number(partialSuccess?.rejectedLogRecords ?? 0);
  } catch {
    return 0;
  }
}

function logOf(record: ExportedRecord): object {
  const { recorded_at, outcome, user_id, user_email, trace_id, arguments: names, ...rest } = record;
  const isRefused = outcome !== "ok" && outcome !== "begun";
  const nanos = `${Date.parse(recorded_at)}000000`;
  const own = Object.entries(rest).map(([name, value]) => [`audit.${name}`, value] as const);
  return {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    severityNumber: isRefused ? WARN : INFO,
    severityText: isRefused ? "WARN" : "INFO",
    eventName: "audit.record",
    body: { stringValue: `${record.action} ${outcome}` },
    attributes: attributesOf({
      ...{ "user.id": user_id, "user.email": user_email, "audit.outcome": outcome, "audit.arguments": names },
      ...Object.fromEntries(own),
    }),
    ...(trace_id !== "" && { traceId: trace_id }),
  };
}

type Value = string | number | boolean | readonly string[];

function attributesOf(values: Readonly<Record<string, Value>>): object[] {
  return Object.entries(values)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => ({ key, value: anyValueOf(value) }));
}

function anyValueOf(value: Value): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { intValue: String(value) };
  if (typeof value === "boolean") return { boolValue: value };
  return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
}
