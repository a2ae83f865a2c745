import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, spawnProgram, untilReady } from "../../support/program.js";

/** How long a process may take to be ready again, on a machine with other work. */
const READY_MS = 180_000;

/** A start that fails, such as while the way to the database is cut, is repeated as docs/operations/sallyport.service does. */
const STARTS = 3;
const RESTART_MS = 2_000;

/** A program of a deployment, which ends and is started again as a supervisor would. */
export class Member {
  private child: Child | undefined;
  private isBeingEnded = false;
  private readonly said: string[] = [];
  /** The most that it and what it started took of memory, in MiB. */
  mostMiB = 0;

  constructor(
    readonly name: string,
    private readonly main: string,
    private readonly args: readonly string[],
    private readonly env: () => Readonly<Record<string, string>>,
  ) {}

  get isRunning(): boolean {
    return this.child !== undefined && this.child.process.exitCode === null && this.child.process.signalCode === null;
  }

  get pid(): number {
    return this.child?.process.pid ?? 0;
  }

  /** Everything that it said, over all its starts. */
  get output(): string {
    return [...this.said, this.child?.output() ?? ""].join("");
  }

  async start(): Promise<void> {
    for (let starts = 1; !this.isRunning; starts++) {
      if (this.child !== undefined) this.said.push(this.child.output());
      const child = spawnProgram(this.main, this.args, this.env());
      this.child = child;
      const gone = once(child.process, "exit").then(() => "gone" as const);
      const how = await Promise.race([untilReady(child, READY_MS), gone]);
      // The next fault may end it before it is ready; that fault then starts it again.
      if (how !== "gone" || this.isBeingEnded) return;
      if (starts === STARTS) throw new Error(`${this.name} ended at its start: ${child.output()}`);
      await sleep(RESTART_MS);
    }
  }

  /** Sends a signal to it, or to the process that it started whose command line has these words. */
  signal(signal: NodeJS.Signals, words?: string, which = 0): number | undefined {
    const pid = words === undefined ? this.pid : this.started(words).at(which);
    if (pid === undefined || !this.isRunning) return undefined;
    return send(pid, signal) ? pid : undefined;
  }

  /** Ends it, and resolves once it has; gives its exit code, or the signal. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | string | null> {
    if (this.child === undefined) return 0;
    const { process: child } = this.child;
    if (!this.isRunning) return child.exitCode ?? child.signalCode;
    this.isBeingEnded = true;
    const ended = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
    const [code, by] = await ended;
    clearTimeout(late);
    setImmediate(() => {
      this.isBeingEnded = false;
    });
    return (code as number | null) ?? (by as string | null);
  }

  /** Looks at the memory of it and of what it started. */
  weigh(): void {
    const own = processes().filter(({ pid, parent }) => pid === this.pid || parent === this.pid);
    const mebi = own.reduce((sum, { kib }) => sum + kib, 0) / 1_024;
    this.mostMiB = Math.max(this.mostMiB, Math.round(mebi));
  }

  /** The processes that it started whose command lines have these words. */
  started(words: string): number[] {
    return processes()
      .filter(({ parent, line }) => parent === this.pid && line.includes(words))
      .map(({ pid }) => pid);
  }
}

/** Sends a signal to a process, if it is still there. */
export function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly kib: number;
  readonly line: string;
}

function processes(): Listed[] {
  const text = execFileSync("ps", ["-eo", "pid=,ppid=,rss=,args="], { encoding: "utf8", maxBuffer: 1 << 24 });
  return text.split("\n").flatMap((row) => {
    const [, pid, parent, kib, line] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), kib: Number(kib), line: line ?? "" }];
  });
}
