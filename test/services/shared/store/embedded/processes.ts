import { type ChildProcess, spawn } from "node:child_process";
import { bundled } from "../../../../support/bundled.js";

/** Runs a script of this folder in a process of its own. */
export async function runScript(script: string, ...args: string[]): Promise<ChildProcess> {
  const file = await bundled(new URL(script, import.meta.url));
  return spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
}

/** Resolves when the process has ended, however it did. */
export function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("close", () => resolve()));
}
