import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onServersCore } from "./cores.js";

/** A server that is measured. */
export interface Server {
  /** Its processes; what descends from them is its own too. */
  readonly pids: readonly number[];
  readonly port: number;
  stop(): Promise<void>;
}

/** Servers that run. One that is measured must not outlive the benchmark, however that ends. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Has an interruption end this process in order, and with it the servers. */
export function endOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
}

/** Has a process end with this one. */
export function tied(child: ChildProcess): ChildProcess {
  running.add(child);
  return child.once("exit", () => running.delete(child));
}

/** How long a server may take until it says that it is ready. */
const READY_MS = 60_000;
/** How long one may take to end. */
const END_MS = 5_000;
/** Characters of what a server says that are kept for an error. */
const KEPT = 4_000;

/** Starts a command that writes "ready PORT" when it answers. @throws Error with what it said if it ends before. */
export async function startCommand(
  command: readonly string[],
  { env = {}, cwd }: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<Server> {
  const [program = "", ...args] = onServersCore(command);
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  tied(child);
  let said = "";
  const port = await new Promise<number>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${command[0]} was not ready in time: ${said}`)), READY_MS);
    const hear = (chunk: Buffer): void => {
      said = `${said}${chunk}`.slice(-KEPT);
      const ready = /^ready (\d+)$/m.exec(said);
      if (ready === null) return;
      clearTimeout(late);
      resolve(Number(ready[1]));
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command[0]} ended with ${code}: ${said}`)));
  }).catch(async (error: unknown) => {
    await end(child);
    throw error;
  });
  return { pids: [child.pid as number], port, stop: () => end(child) };
}

/** Starts one of our servers, by its file here, tells it what to be, and waits for its port. */
export async function startOwn(file: string, what: object = {}): Promise<Server> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const [program = "", ...args] = onServersCore([process.execPath, ...process.execArgv, path]);
  const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  tied(child);
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { port: number }).port));
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}`)));
    child.send(what);
  });
  return { pids: [child.pid as number], port, stop: () => end(child) };
}

/** Ends a process and waits until it has ended. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
  await ended;
  clearTimeout(late);
}
