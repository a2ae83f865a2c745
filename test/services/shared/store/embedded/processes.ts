import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

/** Runs a script of this folder in a process of its own, from source. */
export function runScript(script: string, ...args: string[]): ChildProcess {
  return spawn(
    process.execPath,
    ["--import", "tsx", "--conditions=house:source", join(import.meta.dirname, script), ...args],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
}

/** Resolves when the process has ended, however it did. */
export function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("close", () => resolve()));
}
