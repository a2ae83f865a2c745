import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { AuditKind, type AuditRecord, AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { clientOf } from "../client.js";
import type { Flag, Input, Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { offline } from "../offline.js";
import { momentOf } from "../span.js";

const KINDS: Readonly<Record<string, AuditKind>> = {
  administration: AuditKind.ADMINISTRATION,
  write: AuditKind.WRITE,
  read: AuditKind.READ,
  refusal: AuditKind.REFUSAL,
  sign_in: AuditKind.SIGN_IN,
};
const FILTERS: Readonly<Record<string, Flag>> = {
  user: { doc: "Only actions of the user with this e-mail address." },
  kind: { doc: "Only records of this kind.", choices: Object.keys(KINDS) },
  action: { doc: "Only actions with this in their name, such as ApiKey." },
  target: { doc: "Only actions on this object: an id, or a user's e-mail address if the record has it." },
  outcome: { doc: "Only this outcome: ok, permission_denied, …; begun if the outcome is unknown." },
};
const COLUMNS = ["number", "at", "user", "action", "about", "arguments", "outcome", "count"];
const SHOWN = 50;
const MOST = 100_000;
/** How often `follow` asks, in milliseconds. */
const EVERY_MS = 500;

/** Shows who did what, and when. */
export const audit: readonly Verb[] = [
  {
    verb: "list",
    doc: "List audit records, newest first: user, action, time and outcome.",
    flags: {
      ...FILTERS,
      since: { doc: "The earliest time: 2h or 30d ago, or a local time such as 2026-11-22T08:00." },
      until: { doc: "The latest time, in the same formats." },
      limit: { doc: `The most records to list, ${SHOWN} if omitted.` },
    },
    columns: COLUMNS,
    async run(session, { flags }) {
      const limit = limitOf(flags.limit);
      const client = clientOf(session, AuditService);
      // Once: "2h ago" is another time for each page, and a page goes on with the same filters.
      const filters = filtersOf({ flags });
      const found: AuditRecord[] = [];
      let pageToken = "";
      let more = false;
      do {
        const pageSize = Math.min(100, limit - found.length);
        const page = await client.listAuditRecords({ ...filters, pageSize, pageToken });
        found.push(...page.records);
        pageToken = page.nextPageToken;
        more = pageToken !== "";
      } while (more && found.length < limit);
      return { records: found.map(toJson), ...(more && { more: `there are more: --limit ${limit * 2} shows them` }) };
    },
  },
  {
    verb: "follow",
    doc: "Show new audit records as they come, until interrupted; with --json, one JSON line each.",
    flags: { ...FILTERS, since: { doc: "Start with records from this time, such as 10m ago." } },
    columns: COLUMNS,
    async *run(session, { flags }) {
      const client = clientOf(session, AuditService);
      const filters = filtersOf({ flags });
      let afterNumber = 0n;
      if (filters.since === undefined) {
        const { records } = await client.listAuditRecords({ pageSize: 1 });
        afterNumber = records[0]?.number ?? 0n;
      }
      for (;;) {
        let pageToken = "";
        let last = afterNumber;
        do {
          const page = await client.listAuditRecords({ ...filters, afterNumber, pageSize: 100, pageToken });
          for (const record of page.records) {
            last = record.number;
            yield toJson(record);
          }
          pageToken = page.nextPageToken;
        } while (pageToken !== "");
        afterNumber = last;
        await sleep(EVERY_MS);
      }
    },
  },
  {
    verb: "verify",
    doc: "Check that no audit record was changed or put in between: each has the hash of the one before it. Without --file, the service checks its store.",
    flags: { file: { doc: "Check a file of JSON lines that AUDIT_RECEIVERS names, on this machine." } },
    async run(session, { flags: { file } }) {
      if (file === undefined) return verifyStore(clientOf(session, AuditService));
      return offline(["verify-audit", resolve(file)], session.dataDir);
    },
    hasFailed: (found) => (found as ChainFindings).problem_count > 0,
  },
];

/** What a check of the chain of records found. */
interface ChainFindings {
  readonly records: number;
  /** Numbers that are not there: the limits of the audit delete records. */
  readonly missing: number;
  readonly problem_count: number;
  readonly problems: readonly { readonly number: number; readonly reason: string }[];
}

async function verifyStore(client: Client<typeof AuditService>): Promise<ChainFindings> {
  const found = { records: 0, missing: 0, problem_count: 0 };
  const problems: ChainFindings["problems"][number][] = [];
  let afterNumber = 0n;
  let hasMore = true;
  while (hasMore) {
    const part = await client.verifyAudit({ afterNumber });
    found.records += Number(part.records);
    found.missing += Number(part.missing);
    found.problem_count += Number(part.problemCount);
    problems.push(...part.problems.map(({ number, reason }) => ({ number: Number(number), reason })));
    ({ lastNumber: afterNumber, hasMore } = part);
  }
  return { ...found, problems: problems.slice(0, SHOWN) };
}

function filtersOf({ flags }: Pick<Input, "flags">) {
  const { user, kind, action, target, outcome, since, until } = flags;
  return {
    ...(user !== undefined && { userEmail: user }),
    ...(kind !== undefined && { kind: KINDS[kind] as AuditKind }),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target }),
    ...(outcome !== undefined && { outcome }),
    ...(since !== undefined && { since: timestampFromDate(momentOf(since, "--since")) }),
    ...(until !== undefined && { until: timestampFromDate(momentOf(until, "--until")) }),
  };
}

function limitOf(text: string | undefined): number {
  const limit = text === undefined ? SHOWN : Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) throw new UsageError(`--limit must be 1 to ${MOST}`);
  return limit;
}

/** Both names, if a service account acts for a user. */
function userOf({ serviceAccount, userEmail }: AuditRecord): string {
  return userEmail === "" ? serviceAccount : `${userEmail} (by ${serviceAccount})`;
}

function toJson(record: AuditRecord): object {
  return {
    number: Number(record.number),
    at: record.recordedAt && timestampDate(record.recordedAt).toISOString(),
    kind: AuditKind[record.kind]?.toLowerCase(),
    user: record.serviceAccount === "" ? record.userEmail || record.userId : userOf(record),
    user_id: record.userId,
    key_id: record.keyId,
    service_account: record.serviceAccount,
    action: record.action,
    target: record.target,
    about: record.targetEmail || record.target,
    arguments: record.arguments,
    outcome: record.outcome,
    trace_id: record.traceId,
    count: record.count,
  };
}
