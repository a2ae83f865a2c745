import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { InjectRunResultSchema } from "#proto/aev/v1/execution_pb.js";
import { InjectStatus } from "#proto/aev/v1/inject_service_pb.js";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import type { ProgressSchema } from "#proto/mcp/v1/tool_pb.js";
import { canceled } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { firstTargets, missingAgents, readStatus, toTrace, type UpstreamStatus } from "./execution.js";
import { contractName, statusOf, type UpstreamInjectRead } from "./inject.js";
import { toTargets, type UpstreamTarget } from "./results.js";
import type { TenantScope } from "./tenant.js";

/** How long a run is followed, in milliseconds: whole answers within a minute. */
const FOLLOW_MS = 50_000;
/** Between two looks; the first come sooner. */
const PAUSES_MS = [1_000, 2_000, 4_000, 6_000];
const NAMED = 10;

const OVER: ReadonlySet<InjectStatus> = new Set([
  InjectStatus.SUCCESS,
  InjectStatus.PARTIAL,
  InjectStatus.ERROR,
  InjectStatus.MAYBE_PREVENTED,
  InjectStatus.MAYBE_PARTIAL_PREVENTED,
]);

/**
 * Says what will run where, starts it, and follows it until it is over. The
 * platform takes injects up on the full minute, so that up to sixty seconds
 * pass before anything happens; what is not seen by then the result says. Once
 * started, only the caller's leaving ends in an error.
 *
 * @param start starts it, and gives the id of the inject that runs.
 */
export async function* runInject(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamInjectRead,
  start: () => Promise<string>,
): AsyncGenerator<MessageInitShape<typeof ProgressSchema>, MessageInitShape<typeof InjectRunResultSchema>, void> {
  const began = Date.now();
  const elapsed = () => Date.now() - began;
  const report = (message: string) => ({ done: Math.round(elapsed() / 100) / 10, message });
  const action = contractName(row.inject_injector_contract);
  const { targets, count } = await targetsOf(platform, tenant, row);
  const where = count === 0 ? "nothing" : `${targets.map(({ target_name }) => target_name).join(", ")}${more(count)}`;
  yield report(`about to run "${row.inject_title}" (${action}) on ${where}`);
  const id = await start();
  yield report(`started as inject ${id}; OpenAEV runs it at the next full minute`);

  let status: UpstreamStatus = {};
  let lost: string | undefined;
  let agents: Awaited<ReturnType<typeof missingAgents>> = [];
  try {
    status = await readStatus(platform, tenant, id);
    for (let looks = 0; !OVER.has(statusOf(status.status_name)) && elapsed() < FOLLOW_MS; looks++) {
      const pause = PAUSES_MS[Math.min(looks, PAUSES_MS.length - 1)] as number;
      await sleep(Math.max(0, Math.min(pause, FOLLOW_MS - elapsed())), undefined, { signal: platform.signal });
      status = await readStatus(platform, tenant, id);
      yield report(wordOf(status));
    }
    if (statusOf(status.status_name) === InjectStatus.ERROR) agents = await missingAgents(platform, tenant, id);
  } catch (error) {
    if (platform.signal.aborted)
      throw canceled(`the call was cancelled; inject ${id} was started before and continues`, error);
    if (!(error instanceof ConnectError)) throw error;
    // What was started cannot be called back: it is told, although it can be followed no longer.
    lost = error.rawMessage;
  }
  return {
    inject: { id, name: row.inject_title },
    action,
    targets: toTargets(targets),
    targetCount: count,
    status: statusOf(status.status_name),
    traces: [...(status.status_main_traces ?? []).map((trace) => toTrace(trace)), ...agents],
    remaining: remainingOf(id, status, lost),
  };
}

/** What an inject is aimed at: endpoints, those of its groups among them, and teams. */
async function targetsOf(
  platform: Platform,
  tenant: TenantScope,
  row: UpstreamInjectRead,
): Promise<{ readonly targets: readonly UpstreamTarget[]; readonly count: number }> {
  const hasAssets = (row.inject_assets ?? []).length + (row.inject_asset_groups ?? []).length > 0;
  const hasTeams = row.inject_all_teams || (row.inject_teams ?? []).length > 0;
  const kinds = [...(hasAssets ? [TargetKind.ENDPOINT] : []), ...(hasTeams ? [TargetKind.TEAM] : [])];
  const found = [];
  for (const kind of kinds) found.push(await firstTargets(platform, tenant, row.inject_id, kind, NAMED));
  return {
    targets: found.flatMap(({ rows }) => rows).slice(0, NAMED),
    count: found.reduce((sum, { totalSize }) => sum + totalSize, 0),
  };
}

const more = (count: number): string => (count > NAMED ? ` and ${count - NAMED} more` : "");
const wordOf = (status: UpstreamStatus): string => (status.status_name ?? "DRAFT").toLowerCase().replaceAll("_", " ");

function remainingOf(id: string, status: UpstreamStatus, lost: string | undefined): string {
  const tools = `get_inject_status ${id} shows its status, and list_inject_targets and get_inject_execution_traces show what happens on each target`;
  if (lost !== undefined) return `the inject was started, but its progress could not be read: ${lost}. ${tools}`;
  if (OVER.has(statusOf(status.status_name)))
    return `nothing remains; the run has ended with the status ${wordOf(status)}. ${tools}`;
  return `the run continues and has the status ${wordOf(status)}. ${tools}`;
}
