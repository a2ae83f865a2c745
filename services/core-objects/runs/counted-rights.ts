import type { Context } from "../context.js";
import type { AgentRecord } from "../kinds/agents/record.js";
import { sizeOf } from "../room.js";
import type { RunRecord } from "./record.js";
import { givenOf, type RightsRecord } from "./rights.js";

// What a run may do is stored with the instructions of its agent, which may be
// long, until the run ends: it counts to the owner's runs for so long.

/** What a run begins with, with the bytes that are counted for it. */
export function rightsAtFirst({ _id, expires_at }: Pick<RunRecord, "_id" | "expires_at">, agent: AgentRecord) {
  const record = { _id, agent: givenOf(agent), rights: null, integration: null, fence: 0, expires_at };
  return { ...record, taken: rightsBytes(record) };
}

/** The bytes that the rights of a run take, about. */
export function rightsBytes({
  agent,
  rights,
  integration,
  fallback,
}: Pick<RightsRecord, "agent" | "rights" | "integration" | "fallback">): number {
  return sizeOf({ agent, rights, integration, ...(fallback && { fallback }) });
}

/** Deletes the rights of a run that ended, and gives back what is counted for them. */
export async function dropRights(
  { rights, runRoom }: Pick<Context, "rights" | "runRoom">,
  { _id, owner, expires_at: expiresAt }: Pick<RunRecord, "_id" | "owner" | "expires_at">,
): Promise<void> {
  const gone = await rights.findOneAndDelete({ _id }, {});
  await runRoom.take({ owner, expiresAt, runs: 0, bytes: -(gone?.taken ?? 0) });
}
