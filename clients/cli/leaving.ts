import { Code, ConnectError } from "@connectrpc/connect";
import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import type { LeftBehind } from "#proto/auth/v1/user_service_pb.js";
import {
  type Belonging,
  BelongingsService,
  type HandedOver,
  HandOverOutcome as Outcome,
} from "#proto/core/v1/belongings_service_pb.js";
import { clientOf } from "./client.js";
import type { Verb } from "./command.js";
import { UsageError } from "./failures.js";
import { pages } from "./pages.js";
import type { Session } from "./session.js";
import { findUser } from "./users.js";

/** A person as an argument, who may have left. */
export const LEAVER = {
  name: "USER",
  doc: "The person's e-mail address or id. A deleted user's address works if the audit still has it.",
};
const OUTCOMES: Readonly<Partial<Record<Outcome, string>>> = {
  [Outcome.HANDED_OVER]: "handed over",
  [Outcome.ALREADY_OWNED]: "already owned",
  [Outcome.PLANNED]: "would be handed over",
  [Outcome.NOT_CHANGED]: "not changed",
};

/** Shows what a person owns, and hands it over. */
export const leaving: readonly Verb[] = [
  {
    verb: "belongings",
    doc: "List what a person owns in core: kinds and names of objects, and unfinished runs; never their content.",
    args: [LEAVER],
    flags: { kind: { doc: "Only these kinds, separated by commas, such as agent,assignment,variable." } },
    columns: ["kind", "name", "enabled", "active", "holds_secret", "shared", "used_by_others", "id"],
    async run(session, { args, flags }) {
      const userId = await personId(session, args.USER as string);
      const client = clientOf(session, BelongingsService);
      const kinds = listed(flags.kind);
      const found: object[] = [];
      for await (const page of pages((pageToken) =>
        client.listBelongings({ userId, kinds, pageSize: 100, pageToken }),
      )) {
        found.push(...page.belongings.map(rowOf));
      }
      return { belongings: found, user_id: userId };
    },
  },
  {
    verb: "hand-over",
    doc: "Give what a disabled or deleted person owns to another one. Secret values are deleted, and schedules wait until the new owner enables them. Without --kind and --id: everything.",
    args: [LEAVER],
    flags: {
      to: { doc: "The new owner's e-mail address or id.", required: true },
      kind: { doc: "Only these kinds, separated by commas, such as agent,assignment,variable." },
      id: { doc: "Only the objects with these ids, separated by commas." },
      "dry-run": { doc: "Check everything and show what would happen; change nothing.", isSwitch: true },
    },
    columns: ["kind", "name", "outcome", "notes", "id"],
    isUncut: true,
    async run(session, { args, flags }) {
      if (flags.kind !== undefined && flags.id !== undefined) throw new UsageError("give either --kind or --id");
      const userId = await personId(session, args.USER as string);
      const { id: toUserId } = await findUser(session, flags.to as string);
      const ids = listed(flags.id);
      const which = flags.id === undefined ? { all: true, kinds: listed(flags.kind) } : { ids };
      const request = { userId, toUserId, ...which, dryRun: flags["dry-run"] !== undefined };
      const client = clientOf(session, BelongingsService);
      const found: object[] = [];
      for await (const { objects } of pages((pageToken) => client.handOver({ ...request, pageToken })))
        found.push(...objects.map(outcomeOf));
      return { objects: found };
    },
    hasFailed: (answer) =>
      (answer as { objects: readonly { outcome: string }[] }).objects.some(
        ({ outcome }) => outcome === OUTCOMES[Outcome.NOT_CHANGED],
      ),
  },
];

/** What a user leaves behind, and the command that lists it. @param user the address or id that finds it from now on. */
export function leftBehindOf(left: LeftBehind | undefined, user: string): object {
  if (left === undefined) return {};
  const { problem, objects, pausedSchedules, endedRuns } = left;
  const next = `users belongings ${user} lists what the user owns, and users hand-over ${user} --to EMAIL hands it over`;
  if (problem !== "")
    return { left_behind: `unknown: ${problem}. Schedules and runs end before their next step`, next };
  const counts = { belongings: objects, paused_schedules: pausedSchedules, ended_runs: endedRuns };
  return objects === 0 ? counts : { ...counts, next };
}

/** The id of a person, who may be deleted: objects keep the id, and so does the audit. */
export async function personId(session: Session, name: string): Promise<string> {
  if (!name.includes("@")) return name;
  try {
    return (await findUser(session, name)).id;
  } catch (error) {
    if (ConnectError.from(error).code !== Code.NotFound) throw error;
    const { records } = await clientOf(session, AuditService).listAuditRecords({ userEmail: name, pageSize: 1 });
    const id = records[0]?.userId ?? "";
    if (id !== "") return id;
    throw new ConnectError(
      `there is no user ${name}, and the audit has no record of one. Give the id of a deleted user: audit list --action DeleteUser shows it`,
      Code.NotFound,
    );
  }
}

function listed(given: string | undefined): string[] {
  const items = (given ?? "").split(",").map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== ""))];
}

function rowOf({ kind, id, name, enabled, active, holdsSecret, shared, usedByOthers }: Belonging): object {
  return { kind, name, enabled, active, holds_secret: holdsSecret, shared, used_by_others: usedByOthers, id };
}

function outcomeOf({ kind, id, name, outcome, notes, reason }: HandedOver): { readonly outcome: string } {
  const said = [...notes, reason].filter((one) => one !== "").join("; ");
  return { kind, name, outcome: OUTCOMES[outcome] ?? "unknown", notes: said, id } as { readonly outcome: string };
}
