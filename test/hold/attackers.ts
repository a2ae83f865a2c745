import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Orders } from "./attacker.js";
import type { Outcome } from "./swarm.js";

const ATTACKER = fileURLToPath(new URL("attacker.ts", import.meta.url));

/** A process of attackers. */
export interface Attackers {
  readonly process: ChildProcess;
  /** Attacks until stop(); resolves once every connection was open or ended. */
  attack(orders: Orders): Promise<void>;
  stop(): Promise<Outcome>;
  /** Ends the process. */
  end(): Promise<void>;
}

/** Starts a process of attackers, which waits for its orders. */
export function startAttackers(): Attackers {
  const child = fork(ATTACKER, { execArgv: ["--import", "tsx", "--conditions=house:source"] });
  // They shall burden the service, not keep it and its clients from the processor.
  setPriority(child.pid as number, constants.priority.PRIORITY_LOW);
  return {
    process: child,
    async attack(orders) {
      child.send(orders);
      await once(child, "message");
    },
    async stop() {
      child.send("stop");
      const [outcome] = (await once(child, "message")) as [Outcome];
      return outcome;
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
