import type { Peers } from "../../shared/rpc/peers.js";
import type { Context } from "../context.js";
import type { RunRecord, StepRecord } from "./record.js";
import { exportStep } from "./trace.js";

/**
 * Tells the traces service of the steps of a run, each once it has ended, so that the trace of a run that goes on, or
 * waits for its person, can be read. A step is a delivery of its own: told again, it changes nothing.
 */
export class ToldSteps {
  #telling: Promise<void> | undefined;

  constructor(
    private readonly context: Pick<Context, "runs">,
    private readonly peers: Peers,
    private readonly run: RunRecord,
    /** How many were told. */
    private count = run.told ?? 0,
  ) {}

  /** Tells beside the work what has ended. What cannot be told now is told with the next step, or when the run ends. */
  tell(steps: readonly StepRecord[]): void {
    if (this.#telling !== undefined || steps.length <= this.count) return;
    this.#telling = this.all([...steps])
      .catch(() => undefined)
      .finally(() => {
        this.#telling = undefined;
      });
  }

  /** Tells what has ended before the run rests, as far as that is possible now. */
  async settle(steps: readonly StepRecord[]): Promise<void> {
    await this.#telling;
    await this.all(steps).catch(() => undefined);
  }

  /** Tells of every step that has ended, in order. @throws ConnectError where it cannot be told now. */
  async all(steps: readonly StepRecord[], isEnded = false): Promise<void> {
    for (let step = steps[this.count]; step !== undefined; step = steps[this.count]) {
      if (step.state === "running" && !isEnded) return;
      await exportStep(this.peers, this.run, steps, this.count);
      this.count++;
      const { _id, fence } = this.run;
      await this.context.runs.updateOne({ _id, fence }, { $set: { told: this.count } });
    }
  }
}
