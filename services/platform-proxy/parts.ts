import { PLATFORM_SERVERS, type PlatformServer } from "../shared/platforms.js";
import { loadFolder, loadModule } from "../shared/process/folder.js";
import { keyOf } from "../shared/rpc/in-process.js";
import type { Tool } from "../shared/tools/tools.js";
import type { Adapter, PlatformKind } from "./adapter.js";
import type { Binding } from "./binding.js";

/** What answers the tools of one platform server: the parts that its folder in platforms/ holds. */
export interface PlatformParts {
  readonly adapter: Adapter;
  /** How each tool is answered. */
  readonly bindings: readonly Binding[];
}

/** Loads what answers a server's tools: platforms/NAME/platform.ts and every file of platforms/NAME/tools/. */
export async function loadPlatform(server: PlatformServer): Promise<PlatformParts> {
  const folder = new URL(`./platforms/${server}/`, import.meta.url);
  const { platform } = await loadModule<{ readonly platform: PlatformKind }>(new URL("platform.js", folder));
  const files = await loadFolder<{ readonly bindings?: readonly Binding[] }>(new URL("tools/", folder));
  return { adapter: platform.createAdapter(), bindings: files.flatMap(({ bindings = [] }) => bindings) };
}

/**
 * Loads what answers the tools of every platform server.
 *
 * @param tools those of the whole API.
 * @throws Error in one line, where a tool has no binding, or more than one.
 */
export async function loadPlatforms(tools: readonly Tool[]): Promise<PlatformParts[]> {
  const platforms = await Promise.all(PLATFORM_SERVERS.map(loadPlatform));
  const problem = platforms
    .map(({ adapter, bindings }) => bindingProblem(adapter.server, bindings, tools))
    .find(Boolean);
  if (problem !== undefined) throw new Error(problem);
  return platforms;
}

/** What is wrong with a server's bindings, in one line; undefined where each of its tools has exactly one. */
export function bindingProblem(
  server: PlatformServer,
  bindings: readonly Binding[],
  tools: readonly Tool[],
): string | undefined {
  const where = `services/platform-proxy/platforms/${server}/tools`;
  const own = new Set(tools.filter((tool) => tool.server === server).map((tool) => keyOf(tool.method)));
  const bound = bindings.map(({ method }) => keyOf(method));
  const twice = bound.find((key, at) => bound.indexOf(key) !== at);
  if (twice !== undefined) return `${twice} has two bindings in ${where}: remove one`;
  const missing = [...own].find((key) => !bound.includes(key));
  if (missing !== undefined)
    return `${missing} has no binding in ${where}: add one to the bindings that a file there exports`;
  const stranger = bound.find((key) => !own.has(key));
  return stranger === undefined ? undefined : `${stranger} is bound in ${where} but is not a tool of ${server}`;
}
