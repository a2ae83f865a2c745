import { setTimeout as sleep } from "node:timers/promises";
import { Agent, fetch } from "undici";

/** What became of the requests that a client makes before it calls anything. */
export interface Discovered {
  readonly asked: number;
  readonly answered: number;
  readonly slowestMs: number;
  /** What was said instead. */
  readonly refused: ReadonlySet<string>;
}

/** Another address than that of the load: requests in progress are counted by address too. */
const ADDRESS = "127.0.0.2";
const PAUSE_MS = 500;
const PATIENCE_MS = 10_000;
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "discovery", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Asks what a client asks first, with a key that nothing else uses, until the signal. */
export async function discover(baseUrl: string, key: string, enough: AbortSignal): Promise<Discovered> {
  let [asked, answered, slowestMs] = [0, 0, 0];
  const refused = new Set<string>();
  const dispatcher = new Agent({ localAddress: ADDRESS });
  const signal = () => AbortSignal.timeout(PATIENCE_MS);
  const post = (method: string) => () =>
    fetch(`${baseUrl}/mcp/core`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: META } }),
      signal: signal(),
      dispatcher,
    });
  const asks = {
    "server/discover": post("server/discover"),
    "tools/list": post("tools/list"),
    metadata: () => fetch(`${baseUrl}/.well-known/oauth-protected-resource/mcp/core`, { signal: signal(), dispatcher }),
  };
  while (!enough.aborted) {
    for (const [what, ask] of Object.entries(asks)) {
      const begun = performance.now();
      asked++;
      try {
        const reply = await ask();
        const text = await reply.text();
        if (reply.status === 200 && !("error" in JSON.parse(text))) answered++;
        else refused.add(`${what}: ${reply.status} ${text.slice(0, 150)}`);
      } catch (error) {
        refused.add(`${what}: ${(error as Error).message}`);
      }
      slowestMs = Math.max(slowestMs, performance.now() - begun);
    }
    await sleep(PAUSE_MS, undefined, { signal: enough }).catch(() => undefined);
  }
  await dispatcher.destroy();
  return { asked, answered, slowestMs, refused };
}
