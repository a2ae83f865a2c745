import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunSchema } from "#proto/core/v1/run_pb.js";
import type { ProgressSchema } from "#proto/mcp/v1/tool_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { LiveReader } from "./live.js";
import { ENDED, type RunRecord } from "./record.js";
import { runOf } from "./view.js";

/** How often a run that is followed is looked at, in milliseconds: less often the longer it goes on. */
const LOOK_MS = 150;
const LONGEST_LOOK_MS = 1_000;
/** What a look reads: all of a run may be long. */
const LOOK = { state: 1, step_count: 1 } as const;

/** What a follower of a run receives: how far it has come, and last the run as it is. */
export type Followed =
  | { readonly event: { readonly case: "progress"; readonly value: MessageInitShape<typeof ProgressSchema> } }
  | {
      readonly event: { readonly case: "result"; readonly value: { readonly run: MessageInitShape<typeof RunSchema> } };
    };

/** Of a text that is being written the end is shown to people, in characters. */
const SHOWN = 200;
/** Characters after which an answer counts as half a step: progress only ever grows, and by less than a step. */
const HALF = 2_000;

/**
 * Follows a run until it ends, asks something or the time is over; whichever worker, of whichever process, is at it.
 *
 * @param seconds 0 to look once.
 */
export async function* follow(
  { runs, steps, live }: Context,
  begun: RunRecord,
  seconds: number,
  { signal }: Pick<Call, "signal">,
): AsyncIterable<Followed> {
  const began = performance.now();
  let now: Pick<RunRecord, "state" | "step_count"> = begun;
  const reader = new LiveReader(live, begun._id);
  let [told, message, tail, done, lookAt] = ["", "", "", 0, 0];
  for (let took = 0; !isResting(now) && took < seconds * 1_000; took = performance.now() - began) {
    const said = `${now.state} ${now.step_count}`;
    const isNew = said !== told;
    if (isNew) {
      const [last] = await steps.find({ run: begun._id }, { sort: { _id: -1 }, limit: 1, hint: "run" }).toArray();
      message = last === undefined ? now.state : `${now.state}, step ${last.number}: ${last.name}`;
      [told, tail] = [said, ""];
    }
    const { text, written } = reader.read();
    if (isNew || text !== "") {
      tail = (tail + text).slice(-SHOWN);
      const words = tail === "" ? message : `${message}: ${tail}`;
      done = Math.max(done, now.step_count + written / (written + HALF));
      yield { event: { case: "progress", value: { done, message: words, ...(text !== "" && { text }) } } };
    }
    const ms = Math.min(Math.max(LOOK_MS, took / 10), LONGEST_LOOK_MS);
    await reader.wait(ms, signal);
    // Text comes more often than the run is looked at.
    if (performance.now() < lookAt) continue;
    now = (await runs.findOne({ _id: begun._id }, { projection: LOOK })) ?? now;
    lookAt = performance.now() + ms;
  }
  const run = seconds === 0 ? begun : ((await runs.findOne({ _id: begun._id })) ?? begun);
  yield { event: { case: "result", value: { run: runOf(run) } } };
}

function isResting({ state }: Pick<RunRecord, "state">): boolean {
  return ENDED.has(state) || state === "awaiting_input";
}
