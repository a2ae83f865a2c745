import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { inTurns } from "../../lib/in-turns.js";
import type { Platform } from "../../platform.js";
import { ATOMIC_TEST } from "./inject.js";
import { SIMULATION } from "./member.js";
import { between, type Search, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamInjectResult, UpstreamSimulation } from "./upstream.js";

/** An inject that ran. */
export interface RanInject {
  readonly row: UpstreamInjectResult;
  /** When, in milliseconds. */
  readonly at: number;
  /** It ended in an error, so that it tested nothing. */
  readonly isError: boolean;
}

/** The injects that ran in a period, and what was not looked at. */
export interface RanInjects {
  readonly injects: readonly RanInject[];
  /** How many simulations and atomic tests they are of. */
  readonly simulations: number;
  readonly atomicTests: number;
  readonly leftOut: readonly string[];
}

/** A period; its end is not part of it. */
export interface Period {
  readonly after: Timestamp;
  readonly before?: Timestamp | undefined;
}

/** Simulations whose injects are read for one answer, and injects of one. */
const MAX_SIMULATIONS = 200;
const MAX_INJECTS = 2_000;
const MAX_TESTS = 5_000;
/** Simulations that are looked through for those. */
const MAX_LISTED = 10_000;

/** Reads the injects of simulations, and the atomic tests, that ran in a period. */
export async function ranInjects(platform: Platform, tenant: TenantScope, period: Period): Promise<RanInjects> {
  const leftOut: string[] = [];
  const simulations = await candidates(platform, tenant, period);
  if (simulations.length > MAX_SIMULATIONS) {
    const older = simulations.length - MAX_SIMULATIONS;
    leftOut.push(`the ${older} simulations of the period that changed longest ago; give a shorter period`);
  }
  const read = await inTurns(
    simulations.slice(0, MAX_SIMULATIONS),
    async ({ exercise_id: id, exercise_name: name }) => {
      const { rows, isCut } = await injectsOf(platform, tenant, `/exercises/${id}/injects/search`, MAX_INJECTS);
      if (isCut) leftOut.push(`all but ${MAX_INJECTS} injects of simulation ${name} (${id})`);
      return rows.flatMap((row) => ranIn(row, period));
    },
  );
  const tests = await injectsOf(platform, tenant, `${ATOMIC_TEST.route}/search`, MAX_TESTS);
  if (tests.isCut) leftOut.push(`all but the ${MAX_TESTS} atomic tests that changed last`);
  const ran = tests.rows.flatMap((row) => ranIn(row, period));
  return {
    injects: [...read.flat(), ...ran],
    simulations: read.filter((injects) => injects.length > 0).length,
    atomicTests: ran.length,
    leftOut,
  };
}

/** Simulations that may have run something in the period, last changed first: what ends one changes it. */
async function candidates(platform: Platform, tenant: TenantScope, { after, before }: Period) {
  const search = {
    route: "/exercises/search",
    idKey: SIMULATION.idKey,
    filters: between("exercise_start_date", undefined, before),
    sorts: [{ property: SIMULATION.sortKey, direction: "desc" }],
  } as const;
  const found = new Map<string, UpstreamSimulation>();
  for await (const row of searchAll<UpstreamSimulation>(platform, tenant, search, MAX_LISTED)) {
    if (row.exercise_start_date == null || row.exercise_status === "SCHEDULED") continue;
    const isOpen = row.exercise_status === "RUNNING" || row.exercise_status === "PAUSED";
    if (isOpen || Date.parse(row.exercise_updated_at) >= timestampMs(after)) found.set(row.exercise_id, row);
  }
  return [...found.values()];
}

/** Injects with their outcomes and targets, each once. */
export async function injectsOf(
  platform: Platform,
  tenant: TenantScope,
  route: string,
  limit: number,
): Promise<{ readonly rows: readonly UpstreamInjectResult[]; readonly isCut: boolean }> {
  const found = new Map<string, UpstreamInjectResult>();
  // No two are changed at once, so that the pages leave none out.
  const search: Search = {
    route,
    idKey: "inject_id",
    sorts: [{ property: "inject_updated_at", direction: "desc" }],
  };
  for await (const row of searchAll<UpstreamInjectResult>(platform, tenant, search, limit + 1)) {
    if (found.size === limit) return { rows: [...found.values()], isCut: true };
    found.set(row.inject_id, row);
  }
  return { rows: [...found.values()], isCut: false };
}

/** Not yet under way. */
const WAITING = new Set(["DRAFT", "QUEUING"]);

function ranIn(row: UpstreamInjectResult, { after, before }: Period): RanInject[] {
  const { status_name: status = "DRAFT", tracking_sent_date: sent } = row.inject_status ?? {};
  if (sent == null || WAITING.has(status)) return [];
  const at = Date.parse(sent);
  if (at < timestampMs(after) || (before !== undefined && at >= timestampMs(before))) return [];
  return [{ row, at, isError: status === "ERROR" }];
}
