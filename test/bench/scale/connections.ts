import { connect, type Socket } from "node:net";
import { modern } from "../../facade/support/client.js";
import { requestBytes } from "../load.js";
import type { FacadeAsked } from "../servers/facade.js";
import { startOwn } from "../servers/server.js";
import type { Say } from "./main.js";
import { ownBytesOf, settled } from "./memory.js";

const KEY = { authorization: "Bearer good" };
/** One that is answered, and then keeps its connection. */
const LIST = requestOf("tools/list", {});
/** A stream whose first event comes at once and whose second much later. */
const STREAM = requestOf("tools/call", {
  name: "count_sightings",
  arguments: { steps: 2, step_ms: 55_000 },
  _meta: { progressToken: 1 },
});
/** Connections that are opened at the same time. */
const AT_ONCE = 100;

function requestOf(method: string, params: Record<string, unknown>): Buffer {
  const { body, headers } = modern(method, params);
  return requestBytes("/mcp/cti", { ...KEY, ...headers }, JSON.stringify(body));
}

/** What an idle connection, and an open event stream, hold of the façade's memory. */
export async function connectionsPart(say: Say, count: number): Promise<void> {
  for (const [what, request, answered] of [
    ["idle keep-alive connection", LIST, '"jsonrpc"'],
    ["open event stream", STREAM, "notifications/progress"],
  ] as const) {
    const server = await startOwn("./facade.js", { inFlight: 8 * count } satisfies FacadeAsked);
    const ownBytes = (): number => server.pids.reduce((sum, pid) => sum + ownBytesOf(pid), 0);
    // What is made once is there before it is counted.
    const first = await open(server.port, request, answered, AT_ONCE);
    const before = await settled(ownBytes);
    const sockets = await open(server.port, request, answered, count);
    const after = await settled(ownBytes);
    say(what, `${((after - before) / count / 1_024).toFixed(1)} KB`, `${count} at once`);
    for (const socket of [...first, ...sockets]) socket.destroy();
    await server.stop();
  }
}

async function open(port: number, request: Buffer, answered: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, () => one(port, request, answered));
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

function one(port: number, request: Buffer, answered: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let said = "";
    socket.on("data", (bytes) => {
      if (said.includes(answered)) return;
      said += bytes;
      if (said.startsWith("HTTP/1.1 200") && said.includes(answered)) resolve(socket);
      else if (!said.startsWith("HTTP/1.1 200")) reject(new Error(said.slice(0, 300)));
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after ${said.slice(0, 300)}`)));
    socket.write(request);
  });
}
