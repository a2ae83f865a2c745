import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { dateOf } from "../../shared/dates.js";

/** An instant as platforms write it (RFC 3339); undefined for none, and for what is none. */
export function timeOf(text: string | null | undefined): Timestamp | undefined {
  const ms = text == null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : timestampFromMs(ms);
}

/** An instant as platforms take it: RFC 3339 in UTC, with milliseconds. */
export function instantOf(time: Timestamp): string {
  return dateOf(time).toISOString();
}
