import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import type { Doors } from "./doors.js";
import { type Stored, storedIn } from "./stored.js";

// What the calls stored must be what usage counts, and within what one owner
// may store: the records in the data folder are added up by collection, once the
// program has ended, and compared with what get_usage said last.

/** A row of get_usage. */
export interface Usage {
  readonly name: string;
  /** Absent where it is 0. */
  readonly used?: number;
  readonly limit?: number;
  readonly unit: string;
}

/** What usage says of the caller, and of the deployment. */
export interface Counted {
  readonly own: readonly Usage[];
  readonly deployment: readonly Usage[];
}

/** What is counted under a name, and what is stored of it. */
export interface Account {
  readonly name: string;
  /** Bytes; undefined for what nobody counts. */
  readonly counted: number | undefined;
  readonly stored: Stored;
}

/** The collections behind the rows of usage that are bytes. */
const COUNTED: Readonly<Record<string, RegExp>> = {
  "storage of objects and documents":
    /^(?:agents|assignments|custom_tools|integrations|knowledge_\w+|mcp_servers|prompts|skills|variables)$/,
  "storage of runs": /^run(?:s|_steps|_rights)$/,
  "storage of traces": /^(?:spans|span_segments|span_lists|span_payloads|span_pages|traces)$/,
};

/**
 * What a record and its entries in indexes take in addition to what is counted: about three ids an index. A span is three
 * records, and takes 1.2 KB each beside its payload; how many there may be is bounded by their number.
 */
const BYTES_A_RECORD = 2_048;
/** Of what nobody counts, such as the audit, a call leaves one record. */
const BYTES_A_CALL = 1_024;
/** Of what is there before anybody calls: users, keys, switches. */
const BYTES_AT_FIRST = 256 << 10;

/** Asks for what is counted. */
export async function countedNow(doors: Doors): Promise<Counted> {
  const ask = doors.rpc("rpc", UsageService.method.getUsage);
  const usage = async (args: { deployment?: boolean }) => ((await ask(args)).result as { usage: Usage[] }).usage;
  return { own: await usage({}), deployment: await usage({ deployment: true }) };
}

/** Compares what is counted with what a program that has ended left. */
export async function accountsOf(folder: string, { deployment }: Counted): Promise<Account[]> {
  const stored = [...(await storedIn(folder))];
  const sumOf = (which: (collection: string) => boolean): Stored =>
    stored
      .filter(([collection]) => which(collection))
      .reduce((sum, [, one]) => ({ records: sum.records + one.records, bytes: sum.bytes + one.bytes }), NOTHING);
  const rows = Object.entries(COUNTED).map(([name, collections]) => ({
    name,
    counted: deployment.find((row) => row.name === name)?.used ?? 0,
    stored: sumOf((collection) => collections.test(collection)),
  }));
  const isCounted = (collection: string): boolean => Object.values(COUNTED).some((one) => one.test(collection));
  return [...rows, { name: "counted by nobody", counted: undefined, stored: sumOf((one) => !isCounted(one)) }];
}

const NOTHING: Stored = { records: 0, bytes: 0 };

/** What is wrong with the accounts after a number of calls, a line each. */
export function faultsIn(accounts: readonly Account[], { own, deployment }: Counted, calls: number): string[] {
  const over = [...own, ...deployment]
    .filter(({ used = 0, limit }) => limit !== undefined && used > limit)
    .map(({ name, used, limit }) => `${name}: ${used} of ${limit}`);
  const untrue = accounts
    .filter(({ counted, stored }) => stored.bytes > mostStored(counted, stored.records, calls))
    .map(({ name, counted, stored }) => `${name}: ${stored.bytes} bytes are stored, ${counted ?? "none"} are counted`);
  return [...over, ...untrue];
}

function mostStored(counted: number | undefined, records: number, calls: number): number {
  return counted === undefined ? BYTES_AT_FIRST + calls * BYTES_A_CALL : counted + records * BYTES_A_RECORD;
}
