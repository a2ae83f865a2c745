import type { Log } from "../../services/shared/process/log.js";
import type { EdgeName } from "../config.js";
import type { Listen } from "./edge.js";

/** How a façade is to listen. */
export interface Listening {
  /** Beside other processes on the same port. */
  readonly shares: boolean;
}

/**
 * Which edge is to serve: the one that is named, else µWebSockets.js where it
 * loads, else the one on node:http, with a line in the log that says why.
 *
 * @throws Error in one line, where the one that is named does not load, or
 * cannot share a port.
 */
export async function chooseEdge(named: EdgeName | undefined, log: Log, { shares }: Listening): Promise<EdgeName> {
  const edge = named ?? (await loadable(log));
  if (edge === "node") {
    const { sharesPorts } = await import("./node-edge.js");
    if (shares && !sharesPorts()) throw new Error(NO_SHARING);
    return edge;
  }
  await loadEdge(edge).catch((error: Error) => {
    throw new Error(`EDGE=uws cannot be used: ${whyNotLoaded(error)}; leave EDGE out, or set EDGE=node`);
  });
  return edge;
}

const NO_SHARING = `with EDGE=node, processes of Node ${process.versions.node} cannot share a port: set WORKERS=1, or use Node 22.12 or newer`;

async function loadable(log: Log): Promise<EdgeName> {
  try {
    await loadEdge("uws");
    return "uws";
  } catch (error) {
    log.warn({ edge: "node" }, `the service uses node:http instead of µWebSockets.js: ${whyNotLoaded(error as Error)}`);
    return "node";
  }
}

/** Loads an edge. */
export async function loadEdge(name: EdgeName): Promise<Listen> {
  const { listen } = name === "uws" ? await import("./uws-edge.js") : await import("./node-edge.js");
  return listen;
}

/** Why µWebSockets.js did not load, in a few words. */
export function whyNotLoaded({ message }: Error): string {
  const { platform, arch, version } = process;
  const glibc = /GLIBC_([\d.]+)' not found/.exec(message)?.[1];
  if (glibc !== undefined)
    return `the µWebSockets.js binary for Node ${version.slice(1)} needs glibc ${glibc}, and this system has an older one`;
  if (/Cannot find (?:module|package)/.test(message))
    return `µWebSockets.js has no binary for Node ${version.slice(1)} on ${platform}-${arch}`;
  return `µWebSockets.js does not load (${message.split("\n\n").at(-1)?.split("\n")[0]})`;
}
