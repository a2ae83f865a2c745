import type { MessageInitShape } from "@bufbuild/protobuf";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import {
  BelongingsService,
  type HandedOverSchema,
  HandOverOutcome as Outcome,
} from "#proto/core/v1/belongings_service_pb.js";
import { BEGUN, entryOf } from "../../shared/audit/entry.js";
import type { Call } from "../../shared/rpc/call.js";
import { unavailable } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import type { Passing } from "../objects/leaving.js";
import type { Chosen } from "./plan.js";
import { wordOf } from "./sections.js";

type Row = MessageInitShape<typeof HandedOverSchema>;

const OUTCOMES: Readonly<Partial<Record<Outcome, string>>> = {
  [Outcome.HANDED_OVER]: "ok",
  [Outcome.ALREADY_OWNED]: "already_exists",
  [Outcome.NOT_CHANGED]: "failed_precondition",
};

/**
 * Writes down each object with both owners before any of them changes: the record of the call names only the person
 * who left.
 *
 * @returns what tells how each ended.
 * @throws ConnectError unavailable if it cannot be written: then nothing may change.
 */
export async function auditEach(
  { audit }: Context,
  chosen: readonly Chosen[],
  { from, to }: Passing,
  call: Call,
): Promise<(rows: readonly Row[]) => Promise<void>> {
  if (chosen.length === 0) return async () => undefined;
  const records = chosen.map(({ kind, id }) => {
    const facts = { target: id, args: [`kind=${wordOf(kind)}`, `from=${from}`, `to=${to}`] };
    const how = { kind: AuditKind.ADMINISTRATION, outcome: BEGUN, facts };
    return entryOf(BelongingsService.method.handOver, {}, call, call.caller, how);
  });
  const numbers = await audit({ records }).catch((error: unknown) => {
    throw unavailable("the audit could not record this hand-over, so nothing was handed over: try again", error);
  });
  return async (rows) => {
    const outcomes = rows.map(({ outcome = Outcome.UNSPECIFIED }, n) => ({
      number: numbers[n]!,
      outcome: OUTCOMES[outcome] ?? "unknown",
    }));
    // A record whose outcome cannot be written says "begun", as after the end of a process.
    await audit({ outcomes }).catch(() => undefined);
  };
}
