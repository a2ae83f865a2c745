import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunSchema } from "#proto/core/v1/run_pb.js";
import type { ProgressSchema } from "#proto/mcp/v1/tool_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { ENDED, type RunRecord } from "./record.js";
import { runOf } from "./view.js";

/** How often a run that is followed is looked at, in milliseconds. */
const LOOK_MS = 150;

/** What a follower of a run receives: how far it has come, and last the run as it is. */
export type Followed =
  | { readonly event: { readonly case: "progress"; readonly value: MessageInitShape<typeof ProgressSchema> } }
  | {
      readonly event: { readonly case: "result"; readonly value: { readonly run: MessageInitShape<typeof RunSchema> } };
    };

/**
 * Follows a run until it ends, asks something or the time is over; whichever worker, of whichever process, is at it.
 *
 * @param seconds 0 to look once.
 */
export async function* follow(
  { runs, steps }: Context,
  begun: RunRecord,
  seconds: number,
  { signal }: Pick<Call, "signal">,
): AsyncIterable<Followed> {
  const until = performance.now() + seconds * 1_000;
  let run = begun;
  let told = "";
  while (!isResting(run) && performance.now() < until) {
    const said = `${run.state} ${run.step_count}`;
    if (said !== told) {
      const [last] = await steps.find({ run: run._id }, { sort: { _id: -1 }, limit: 1, hint: "run" }).toArray();
      const message = last === undefined ? run.state : `${run.state}, step ${last.number}: ${last.name}`;
      yield { event: { case: "progress", value: { done: run.step_count, message } } };
      told = said;
    }
    await sleep(LOOK_MS, undefined, { signal });
    run = (await runs.findOne({ _id: run._id })) ?? run;
  }
  yield { event: { case: "result", value: { run: runOf(run) } } };
}

function isResting({ state }: RunRecord): boolean {
  return ENDED.has(state) || state === "awaiting_input";
}
