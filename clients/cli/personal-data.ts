import { PersonalFate as Fate, type PersonalCount } from "#proto/auth/v1/personal_data_pb.js";
import { PersonalDataService as AuthData } from "#proto/auth/v1/personal_data_service_pb.js";
import { PersonalDataService as CoreData } from "#proto/core/v1/personal_data_service_pb.js";
import { PersonalDataService as TracesData } from "#proto/traces/v1/personal_data_service_pb.js";
import { clientOf } from "./client.js";
import type { Verb } from "./command.js";
import { LEAVER, personId } from "./leaving.js";
import { pages } from "./pages.js";
import type { Session } from "./session.js";

/** What an erasure that was only planned, or was done, says of records. */
const FATES: Readonly<Partial<Record<Fate, readonly [planned: string, done: string]>>> = {
  [Fate.DELETED]: ["would be deleted", "deleted"],
  [Fate.KEPT]: ["stays", "stays"],
  [Fate.WAITING]: ["would be deleted", "not deleted yet"],
};
const LEFT = "not deleted yet";

/** Exports what the service holds about a person, and erases it. */
export const personalData: readonly Verb[] = [
  {
    verb: "export",
    doc: "Export everything the service holds about a person, without secrets: one record a line, with --json as JSON. The person may be disabled or deleted.",
    args: [LEAVER],
    run: (session, { args }) => exported(session, args.USER as string),
  },
  {
    verb: "erase",
    doc: "Delete everything the service holds about a disabled or deleted person, except the audit. Objects that others need are handed over first, with users hand-over. This cannot be undone.",
    args: [LEAVER],
    flags: {
      "dry-run": {
        doc: "Check everything and show what would be deleted and what stays; change nothing.",
        isSwitch: true,
      },
    },
    columns: ["service", "kind", "count", "outcome", "reason"],
    isUncut: true,
    async run(session, { args, flags }) {
      const userId = await personId(session, args.USER as string);
      // All services check before the first of them changes anything.
      const planned = await eachOf(session, userId, true);
      if (flags["dry-run"] !== undefined) return { records: rowsOf(planned, "planned"), user_id: userId };
      const done = await eachOf(session, userId, false);
      // A run that was ended may have told of its last step in between.
      const left = (await eachOf(session, userId, true)).filter(({ fate }) => fate !== Fate.KEPT);
      const again = left.map((one) => ({ ...one, fate: Fate.WAITING, reason: one.reason || "repeat the command" }));
      const settled = done.filter(({ fate }) => fate !== Fate.WAITING);
      return { records: rowsOf([...settled, ...again], "done"), user_id: userId };
    },
    hasFailed: (answer) =>
      (answer as { records: readonly { outcome: string }[] }).records.some(({ outcome }) => outcome === LEFT),
  },
];

/** The account goes last: until then the person is found by the address. */
const SERVICES = [
  ["core", CoreData],
  ["traces", TracesData],
  ["auth", AuthData],
] as const;

interface Counted extends Pick<PersonalCount, "kind" | "count" | "fate" | "reason"> {
  readonly service: string;
}

async function eachOf(session: Session, userId: string, dryRun: boolean): Promise<Counted[]> {
  const found: Counted[] = [];
  for (const [service, data] of SERVICES) {
    const { counts } = await clientOf(session, data as typeof AuthData).erasePersonalData({ userId, dryRun });
    found.push(...counts.map(({ kind, count, fate, reason }) => ({ service, kind, count, fate, reason })));
  }
  return found;
}

function rowsOf(counted: readonly Counted[], how: "planned" | "done"): object[] {
  return counted.map(({ service, kind, count, fate, reason }) => ({
    ...{ service, kind, count: Number(count) },
    outcome: FATES[fate]?.[how === "planned" ? 0 : 1] ?? "unknown",
    reason,
  }));
}

async function* exported(session: Session, user: string): AsyncIterable<object> {
  const userId = await personId(session, user);
  for (const [service, data] of SERVICES.toReversed()) {
    const client = clientOf(session, data as typeof AuthData);
    for await (const { records } of pages((pageToken) => client.exportPersonalData({ userId, pageToken })))
      for (const { kind, json } of records) yield { service, kind, record: JSON.parse(json) as unknown };
  }
}
