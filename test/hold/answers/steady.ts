import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** What other callers noticed meanwhile; times in milliseconds. */
export interface Noticed {
  readonly calls: number;
  readonly p99: number;
  readonly longest: number;
  /** What failed, a sentence each. */
  readonly failures: readonly string[];
  /** Sent again, since the connection that they were sent on had just been closed for being idle. */
  readonly again: number;
}

/** What other callers notice while something goes on, and what came of that. */
export interface Beside {
  readonly noticed: Noticed;
  readonly said: string | Error;
}

/** The address of a program and a good key. */
export interface Served {
  readonly baseUrl: string;
  readonly key: string;
}

/** Has something done beside steady callers. */
export async function beside({ baseUrl, key }: Served, what: () => Promise<string>): Promise<Beside> {
  const enough = new AbortController();
  const calling = callBeside(baseUrl, key, enough.signal);
  const said = await what().catch((error: Error) => error);
  enough.abort();
  return { noticed: await calling, said };
}

/** What callers notice while nothing goes on. */
export async function quietly(served: Served, ms: number): Promise<Noticed> {
  return (await beside(served, () => sleep(ms, ""))).noticed;
}

const PACE_MS = 20;
const PATIENCE_MS = 120_000;

/** Calls a tool with a good key, and asks for health, steadily, until the signal says that it is enough. */
export async function callBeside(baseUrl: string, key: string, enough: AbortSignal): Promise<Noticed> {
  const agent = new Agent({ keepAlive: true });
  const [times, failures, pending]: [number[], string[], Promise<void>[]] = [[], [], []];
  let again = 0;
  // A server closes idle connections, and a request may cross that: Node's documents say to send it again once
  // (http.ClientRequest, request.reusedSocket). A connection that is new, or fails once more, is a failure.
  const twice = (url: string, good?: string): Promise<void> =>
    ask(url, agent, good).catch((error: Error) => {
      if (!(error instanceof ClosedWhileIdle)) throw error;
      again++;
      return ask(url, agent, good);
    });
  for (let n = 0; !enough.aborted; n++) {
    const began = performance.now();
    const asked = n % 2 === 0 ? twice(`${baseUrl}/healthz`) : twice(`${baseUrl}/mcp/core`, key);
    pending.push(
      asked.then(
        () => void times.push(performance.now() - began),
        (error: Error) => void failures.push(error.message),
      ),
    );
    await sleep(PACE_MS);
  }
  await Promise.all(pending);
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN;
  return { calls: pending.length, p99: at(0.99), longest: at(1), failures, again };
}

const CALL = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "list_agents", arguments: { page_size: 1 } },
});

/** A kept connection was reset before anything of the answer came. */
class ClosedWhileIdle extends Error {}

function ask(url: string, agent: Agent, key?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: key === undefined ? "GET" : "POST",
      timeout: PATIENCE_MS,
      ...(key !== undefined && {
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
      }),
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)));
    let isAnswered = false;
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const isCrossed = sent.reusedSocket && error.code === "ECONNRESET" && !isAnswered;
      reject(isCrossed ? new ClosedWhileIdle(error.message) : error);
    });
    sent.on("response", async (answer) => {
      isAnswered = true;
      let text = "";
      for await (const chunk of answer.setEncoding("utf8")) text += chunk;
      const isGood = answer.statusCode === 200 && !text.includes('"isError":true') && !text.includes('"error":{');
      if (isGood) resolve();
      else reject(new Error(`${answer.statusCode} ${text.slice(0, 200)}`));
    });
    sent.end(key === undefined ? undefined : CALL);
  });
}
