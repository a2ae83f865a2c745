import { PLATFORMS, type PlatformServer } from "../shared/platforms.js";
import { loadModule } from "../shared/process/folder.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";

/** The servers for which there is a built-in platform, each in the folder of its name. */
export const SANDBOXES: readonly PlatformServer[] = PLATFORMS.filter((row) => "sandbox" in row).map(({ name }) => name);

/** What each built-in platform's `server.ts` exports. */
interface SandboxModule {
  readonly startSandbox: (options: SandboxOptions) => Promise<Sandbox>;
}

/**
 * Starts the built-in platform of a server. Only its own folder is loaded.
 *
 * @throws Error for a server that has none, or a port that is taken.
 */
export async function startSandbox(server: PlatformServer, where: SandboxOptions): Promise<Sandbox> {
  if (!SANDBOXES.includes(server)) throw new Error(`there is no built-in platform for ${server}`);
  const module = await loadModule<SandboxModule>(new URL(`./${server}/server.js`, import.meta.url));
  return module.startSandbox(where);
}
