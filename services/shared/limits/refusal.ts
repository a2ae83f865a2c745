import { create, toBinary } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

/** What a caller is told of one call too many, on every port. @param wait in seconds. */
export function tooManyCalls(wait: number): string {
  return `too many calls with this API key, or with all keys of its owner together: wait ${secondsOf(wait)} s, then call again`;
}

/** Whole seconds to wait, at least one: what Retry-After takes (RFC 9110 section 10.2.3). */
export function secondsOf(wait: number): number {
  return Math.max(1, Math.ceil(wait));
}

/** Refuses a call that is one too many. */
export function exhausted(wait: number): ConnectError {
  return exhaustedFor(tooManyCalls(wait), wait);
}

/**
 * Refuses what there is too much of now, with when to try again: in words, as
 * `retry-after`, and as google.rpc.RetryInfo, by which gRPC clients and
 * exporters of OpenTelemetry repeat a call (OTLP specification, "OTLP/gRPC Throttling").
 *
 * @param wait in seconds.
 */
export function exhaustedFor(words: string, wait: number): ConnectError {
  const seconds = secondsOf(wait);
  const error = new ConnectError(words, Code.ResourceExhausted, { "retry-after": String(seconds) });
  const delay = toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(seconds) }));
  error.details.push({ type: "google.rpc.RetryInfo", value: Uint8Array.of(RETRY_DELAY, delay.length, ...delay) });
  return error;
}

/** The tag of `google.protobuf.Duration retry_delay = 1` (google/rpc/error_details.proto). */
const RETRY_DELAY = 0x0a;
