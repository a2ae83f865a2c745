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

/** How long a platform that nobody asks is not opened, in milliseconds: the service starts meanwhile. */
const OPEN_AFTER_MS = 5_000;

/**
 * Starts the built-in platform of a server. Only its own folder is loaded, and its sample data are made, when
 * it is first asked, or a moment later: the start of the service does not wait for it. Data of before are read at
 * once, so that a file that cannot be read ends the start.
 *
 * @throws Error for a server that has none, a port that is taken, or a file that cannot be read.
 */
export async function startSandbox(server: PlatformServer, where: SandboxOptions): Promise<Sandbox> {
  if (!SANDBOXES.includes(server)) throw new Error(`there is no built-in platform for ${server}`);
  let opened: Promise<Sandbox> | undefined;
  const open = (): Promise<Sandbox> => {
    clearTimeout(unasked);
    opened ??= loadModule<SandboxModule>(new URL(`./${server}/server.js`, import.meta.url)).then((module) =>
      module.startSandbox({ ...where, listener }),
    );
    return opened;
  };
  const listener = await listen(where.host, where.port, (request, response) => {
    // By then the platform itself answers.
    open()
      .then(() => listener.again(request, response))
      .catch(() => response.destroy());
  });
  const unasked = setTimeout(() => void open().catch(() => undefined), OPEN_AFTER_MS).unref();
  if (where.file !== undefined && existsSync(where.file)) await open();
  return {
    url: listener.url,
    close: async () => {
      clearTimeout(unasked);
      // One that could not be opened has only its listener.
      const sandbox = await opened?.catch(() => undefined);
      await (sandbox ?? listener).close();
    },
  };
}
