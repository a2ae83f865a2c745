import { existsSync } from "node:fs";
import { PLATFORMS, type PlatformServer } from "../shared/platforms.js";
import { loadModule } from "../shared/process/folder.js";
import { listen } from "./listener.js";
import type { Sandbox, SandboxOptions } from "./sandbox.js";

/** The servers for which there is a built-in platform, each in the folder of its name. */
export const SANDBOXES: readonly PlatformServer[] = PLATFORMS.filter((row) => "sandbox" in row).map(({ name }) => name);

/** What each built-in platform's `server.ts` exports. */
interface SandboxModule {
  readonly startSandbox: (options: SandboxOptions) => Promise<Sandbox>;
}

/**
 * Starts the built-in platform of a server. Only its own folder is loaded, and its sample data are made, when
 * it is first asked: few starts ask each platform. Data of before are read at once, so that a file that cannot be read
 * ends the start.
 *
 * @throws Error for a server that has none, a port that is taken, or a file that cannot be read.
 */
export async function startSandbox(server: PlatformServer, where: SandboxOptions): Promise<Sandbox> {
  if (!SANDBOXES.includes(server)) throw new Error(`there is no built-in platform for ${server}`);
  const open = async (): Promise<Sandbox> => {
    const module = await loadModule<SandboxModule>(new URL(`./${server}/server.js`, import.meta.url));
    return module.startSandbox({ ...where, listener });
  };
  let opened: Promise<Sandbox> | undefined;
  const listener = await listen(where.host, where.port, (request, response) => {
    opened ??= open();
    // By then the platform itself answers.
    opened.then(() => listener.again(request, response)).catch(() => response.destroy());
  });
  if (where.file !== undefined && existsSync(where.file)) {
    opened = open();
    await opened;
  }
  return {
    url: listener.url,
    close: async () => {
      const sandbox = await opened;
      await (sandbox ?? listener).close();
    },
  };
}
