import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { BEGUN as Begun, Orders } from "./attacker.js";
import type { Outcome } from "./swarm.js";

const BEGUN: typeof Begun = "begun";
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
  const heard = async (isIt: (said: unknown) => boolean): Promise<unknown> => {
    for (;;) {
      const [said] = (await once(child, "message")) as [unknown];
      if (isIt(said)) return said;
    }
  };
  return {
    process: child,
    async attack(orders) {
      child.send(orders);
      await heard((said) => said === BEGUN);
    },
    async stop() {
      child.send("stop");
      // It may have begun only now.
      return (await heard((said) => said !== BEGUN)) as Outcome;
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
