import { ConnectError } from "@connectrpc/connect";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { settled, withOutcome } from "../write-outcome.js";

/**
 * The failure of a tool that changes something, with what became of the change.
 *
 * @param hasBegun whether the method was reached; before that nothing is changed.
 */
export function withWriteOutcome(error: unknown, hasBegun: boolean): ConnectError {
  const failed = ConnectError.from(error);
  return hasBegun ? settled(failed) : withOutcome(failed, Outcome.UNCHANGED);
}
