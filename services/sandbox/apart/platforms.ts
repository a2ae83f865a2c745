import type { PlatformServer } from "../../shared/platforms.js";
import { serveThread } from "../../shared/process/thread.js";
import type { Sandbox, SandboxOptions } from "../sandbox.js";
import { startSandbox } from "../start.js";

/** A built-in platform, and where it listens. */
export interface Placed extends Omit<SandboxOptions, "listener"> {
  readonly server: PlatformServer;
}

const running: Sandbox[] = [];

const methods = {
  /** Returns their URLs, in the same order. @throws Error as startSandbox does. */
  async start(platforms: readonly Placed[]): Promise<readonly string[]> {
    for (const { server, ...where } of platforms) running.push(await startSandbox(server, where));
    return running.map(({ url }) => url);
  },
  /** Ends them once their changes are written. */
  async close(): Promise<void> {
    await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
  },
};

/** What the thread answers to. */
export type PlatformMethods = typeof methods;

serveThread(methods);
