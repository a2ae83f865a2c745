import { EXIT, Failure } from "../cli/failures.js";
import { type Broken, Connection } from "./connection.js";
import type { Answer } from "./http/reader.js";
import { judge } from "./mcp/answer.js";
import { INITIALIZE, INITIALIZED, type Message } from "./mcp/message.js";
import type { Operation } from "./operation.js";
import type { Scenario } from "./scenario.js";

/** Ids of the messages before the run; those of the run begin with 0. */
const FIRST_ID = 1_000_000_000;
/** Connections that shake hands at the same time. */
const AT_ONCE = 32;
const HINTS: Readonly<Record<string, string>> = {
  http_401: "Give a key in LOAD_KEY or --keys.",
  http_403: "Give a key that may use this server.",
  http_404: "Check the path of --url.",
  econnrefused: "Start the server, or check the port of --url.",
  enotfound: "Check the host of --url.",
  "rpc_-32022": "The server does not speak this revision: choose others by --eras.",
  "rpc_-32601": "The server does not know this method: choose others by --mix and --eras.",
  "rpc_-32602": "Check --tool and --arguments; a server without this revision needs --eras 2025-11-25.",
  tool_error: "Choose a tool by --tool and --arguments that succeeds.",
};

/** Connections that are ready, and what the server calls itself. */
export interface Opened {
  readonly connections: readonly Connection[];
  /** "" if it did not say. */
  readonly server: string;
}

/**
 * Makes the connections, shakes hands on each if the scenario has the era
 * 2025-11-25, and tries each operation once, so that a wrong key or tool is
 * reported before the run and not as a hundred thousand failures.
 *
 * @param scrub removes secrets from the server's words.
 * @throws Failure that says which request failed, how, and what to do.
 */
export async function open(
  scenario: Scenario,
  operations: readonly Operation[],
  scrub: (text: string) => string,
): Promise<Opened> {
  const { keys, url, headers } = scenario;
  const connections = Array.from({ length: scenario.connections }, (_, i) => {
    const key = keys.length === 0 ? undefined : keys[i % keys.length];
    return new Connection({
      url,
      headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
    });
  });
  const hasHandshake = operations.some(({ era }) => era === "2025-11-25");
  let id = FIRST_ID;
  const ask = async (
    connection: Connection,
    message: Message,
    { what, isCall }: { readonly what: string; readonly isCall: boolean },
  ): Promise<Answer & { server: string }> => {
    const own = id++;
    const answer = await exchange(connection, message, own, scenario.timeoutMs);
    const verdict =
      "broken" in answer
        ? { failure: answer.broken, detail: answer.detail, server: "" }
        : judge(answer, { id: own, isCall });
    if (verdict.failure !== undefined || "broken" in answer) {
      throw refusal(what, verdict.failure ?? "", scrub(verdict.detail ?? ""));
    }
    return { ...answer, server: verdict.server ?? "" };
  };
  const shakeHands = async (connection: Connection): Promise<string> => {
    const { headers, server } = await ask(connection, INITIALIZE, { what: "initialize", isCall: false });
    connection.sessionId = headers["mcp-session-id"];
    // Its answer is 202 or nothing of interest.
    await exchange(connection, INITIALIZED, id++, scenario.timeoutMs);
    return server;
  };
  try {
    const [first, ...others] = connections as [Connection, ...Connection[]];
    let server = hasHandshake ? await shakeHands(first) : "";
    for (const { kind, era, message } of operations) {
      const answer = await ask(first, message, { what: `${kind} in ${era}`, isCall: kind !== "list" });
      if (server === "") ({ server } = answer);
    }
    for (let i = 0; hasHandshake && i < others.length; i += AT_ONCE) {
      await Promise.all(others.slice(i, i + AT_ONCE).map(shakeHands));
    }
    return { connections, server: scrub(server) };
  } catch (error) {
    for (const connection of connections) connection.close();
    throw error;
  }
}

function exchange(connection: Connection, message: Message, id: number, timeoutMs: number): Promise<Answer | Broken> {
  return new Promise((resolve) => {
    const late = setTimeout(() => connection.giveUp("timeout", `no answer within ${timeoutMs / 1_000} s`), timeoutMs);
    connection.send({ headers: message.headers, body: message.bodyOf(id) }, (answer) => {
      clearTimeout(late);
      resolve(answer);
    });
  });
}

function refusal(what: string, failure: string, detail: string): Failure {
  const said = detail === "" ? "" : ` (${detail})`;
  const hint = HINTS[failure] ?? "Send the same request by hand to see the whole answer.";
  return new Failure(`The run did not begin: ${what} failed with ${failure}${said}. ${hint}`, EXIT.unavailable);
}
