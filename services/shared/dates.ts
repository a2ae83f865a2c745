import type { Timestamp } from "@bufbuild/protobuf/wkt";

const NANOS_A_MS = 1_000_000;

/**
 * The instant of a timestamp, in whole milliseconds that have begun. Rounded up,
 * the last moment of the year 9999 would be in a year that no timestamp can hold.
 */
export function dateOf({ seconds, nanos }: Timestamp): Date {
  return new Date(Number(seconds) * 1_000 + Math.floor(nanos / NANOS_A_MS));
}
