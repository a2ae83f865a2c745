import { EXIT, Failure } from "./failures.js";
import type { Session } from "./session.js";

/** An error of JSON-RPC, or what the door says instead of an answer. */
interface Refusal {
  readonly message: string;
}

const EXIT_OF_STATUS: Readonly<Record<number, number>> = {
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.notFound,
  429: EXIT.unavailable,
  503: EXIT.unavailable,
};
/** Invalid params (JSON-RPC 2.0): a tool or an argument that is not there. */
const INVALID_PARAMS = -32602;

/**
 * Makes one request of a server as an MCP client does, without a session: an
 * answer is one JSON body where no progress is asked for. No SDK: loading one
 * takes longer than the call.
 *
 * @throws Failure in the server's own words.
 */
export async function mcp<T>(session: Session, server: string, method: string, params: object): Promise<T> {
  const response = await fetch(`${session.url}/mcp/${server}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${session.apiKey}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json().catch(() => ({}))) as { result?: T; error?: Refusal & { code: number } };
  if (answer.result !== undefined) return answer.result;
  const { error } = answer;
  const exitCode = error?.code === INVALID_PARAMS ? EXIT.usage : (EXIT_OF_STATUS[response.status] ?? EXIT.failed);
  throw new Failure(error?.message ?? `the service answered ${response.status} without a reason`, exitCode);
}
