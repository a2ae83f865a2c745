import type { Caller } from "../../shared/rpc/call.js";

/** Who writes an object. */
export interface Writer {
  readonly userId: string;
}

/** The one who calls, as the writer of an object. */
export function writerFor({ id }: Caller): Writer {
  return { userId: id };
}
