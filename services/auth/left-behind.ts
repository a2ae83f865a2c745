import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { LeftBehindSchema } from "#proto/auth/v1/user_service_pb.js";
import { BelongingsService } from "#proto/core/v1/belongings_service_pb.js";
import type { Context } from "./context.js";

/** How long core has to answer, in milliseconds: whoever disables a user waits for it. */
const PATIENCE_MS = 4_000;

/**
 * Has core stop what goes on in the name of a user who can no longer sign in, and asks what the user owns there. If
 * core does not answer, the change of the user stands: runs end at their next step and schedules when they are due,
 * because auth no longer stands in for the user.
 */
export async function leftBehind(
  { peers }: Context,
  userId: string,
): Promise<MessageInitShape<typeof LeftBehindSchema>> {
  const others = peers();
  if (others === undefined) return { problem: "core is not reachable from this process" };
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { objects, pausedSchedules, endedRuns } = await others.callAsService(
      BelongingsService.method.stopWork,
      { userId },
      signal,
    );
    return { objects, pausedSchedules, endedRuns };
  } catch (error) {
    return { problem: `core did not answer: ${ConnectError.from(error).rawMessage}` };
  }
}
