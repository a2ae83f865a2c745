import { Code, ConnectError } from "@connectrpc/connect";
import type { Context } from "../context.js";
import { RunEnd } from "./ending.js";
import type { RunRecord } from "./record.js";

/**
 * Counts what a run that is worked at grows by, before it is written.
 *
 * @throws RunEnd storage_full.
 */
export async function growRun(
  { runRoom }: Pick<Context, "runRoom">,
  { owner, expires_at: expiresAt }: Pick<RunRecord, "owner" | "expires_at">,
  bytes: number,
): Promise<void> {
  try {
    await runRoom.take({ owner, expiresAt, runs: 0, bytes });
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    throw code === Code.ResourceExhausted ? new RunEnd("storage_full", rawMessage) : error;
  }
}
