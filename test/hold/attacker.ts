// A process of attackers, so that they can have a core to themselves: attacks
// when its parent sends orders, and says what came of it when told to stop.

import type { Target } from "./hostile.js";
import { KINDS } from "./kinds.js";
import { type Outcome, startSwarm } from "./swarm.js";

/** What an attacker is told to do. */
export interface Orders extends Target {
  readonly kind: string;
  readonly connections: number;
}

/** Said once when all of a swarm were open or had ended. */
export const BEGUN = "begun";

let swarm: { stop(): Outcome } | undefined;

process.on("message", (orders: Orders | "stop") => {
  if (orders === "stop") return void process.send?.(swarm?.stop());
  const { kind, connections, ...target } = orders;
  const hostile = KINDS[kind];
  if (hostile === undefined) throw new Error(`there is no kind of attack "${kind}"`);
  swarm = startSwarm(hostile, connections, target, () => process.send?.(BEGUN));
});
process.once("disconnect", () => process.exit(0));
