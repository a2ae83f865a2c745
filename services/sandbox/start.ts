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

/** A built-in platform that listens, and is loaded when it is first asked, or before. */
export interface StartedSandbox extends Sandbox {
  /** Loads it and makes its sample data, so that its first caller need not wait for them. */
  open(): Promise<void>;
}

/**
 * Starts the built-in platform of a server. Only its own folder is loaded, and its sample data are made, when
 * it is opened or first asked: the start of the service does not wait for it. Data of before are read at
 * once, so that a file that cannot be read ends the start.
 *
 * @throws Error for a server that has none, a port that is taken, or a file that cannot be read.
 */
export async function startSandbox(server: PlatformServer, where: SandboxOptions): Promise<StartedSandbox> {
  if (!SANDBOXES.includes(server)) throw new Error(`there is no built-in platform for ${server}`);
  let opened: Promise<Sandbox> | undefined;
  const open = (): Promise<Sandbox> => {
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
  if (where.file !== undefined && existsSync(where.file)) await open();
  return {
    url: listener.url,
    open: async () => {
      await open();
    },
    close: async () => {
      const sandbox = await opened;
      await (sandbox ?? listener).close();
    },
  };
}
