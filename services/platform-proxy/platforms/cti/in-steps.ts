import { ConnectError } from "@connectrpc/connect";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { withOutcome, withOutcomeSaid } from "../../../shared/rpc/write-outcome.js";
import { isLeftOpen } from "../../lib/outcome.js";

// Some changes are one call for us and several steps for the platform, which
// makes the first and refuses the second. Its refusal says nothing of the first.

/**
 * Makes a change that the platform makes in steps; if it is refused, looks what of it was made.
 *
 * @param made says in words what exists or has changed; undefined if nothing has.
 * @throws ConnectError the refusal, with what was made.
 */
export async function inSteps<Answer>(
  change: () => Promise<Answer>,
  made: () => Promise<string | undefined>,
): Promise<Answer> {
  try {
    return await change();
  } catch (refusal) {
    if (!(refusal instanceof ConnectError) || isLeftOpen(refusal)) throw refusal;
    const part = await made().catch(() => {
      throw withOutcome(refusal, Outcome.UNKNOWN);
    });
    if (part === undefined) throw refusal;
    const message = `${refusal.rawMessage}; a part of the change was made: ${part}`;
    throw withOutcomeSaid(new ConnectError(message, refusal.code, undefined, undefined, refusal.cause), Outcome.PARTLY);
  }
}
