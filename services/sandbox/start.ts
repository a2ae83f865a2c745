import type { PlatformServer } from "../shared/platforms.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";

type Start = (where: SandboxOptions) => Promise<Sandbox>;

const STARTERS: Readonly<Record<string, Start>> = {
  cti: async (where) => (await import("./cti/server.js")).startCtiSandbox(where),
  aev: async (where) => (await import("./aev/server.js")).startAevSandbox(where),
  grc: async (where) => (await import("./grc/server.js")).startGrcSandbox(where),
};

/** Starts the built-in platform of a server; only its own modules are loaded. @throws Error where there is none. */
export async function startSandbox(server: PlatformServer, where: SandboxOptions): Promise<Sandbox> {
  const start = STARTERS[server];
  if (start === undefined) throw new Error(`there is no built-in platform for ${server}`);
  return start(where);
}
