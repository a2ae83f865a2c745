import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type JSONRPCMessage, McpError } from "@modelcontextprotocol/sdk/types.js";

// The answer to a request of Streamable HTTP is the body of its POST. If that ends without an answer to the request,
// none will come: the SDK would wait for it all the same.

const WORDS = "it ended its answer without answering the request";
/** Marks what this module says: no server can send this object. */
const OURS = {};
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = Uint8Array.of(0x0a);

/** Fails a request as soon as nothing can answer it any more. */
export class Unanswered {
  readonly #waiting = new Set<number>();
  #way: Transport | undefined;

  /** A fetch that sees where the answers end. */
  watching(send: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      const id = init?.method === "POST" ? idIn(init.body) : undefined;
      const answer = await send(input, init);
      // Of any other status the SDK tells the request.
      if (id === undefined || !answer.ok) return answer;
      const ended = (): void => this.#ended(id);
      if (answer.body === null || answer.status === 202) {
        ended();
        return answer;
      }
      const { status, statusText, headers } = answer;
      return new Response(seenToItsEnd(answer.body, ended), { status, statusText, headers });
    };
  }

  /** Sees the requests of a client; before it connects. */
  watchRequests(way: Transport): void {
    this.#way = way;
    const send = way.send.bind(way);
    way.send = (message, options) => {
      if (!("method" in message && "id" in message)) return send(message, options);
      const id = Number(message.id);
      this.#waiting.add(id);
      // A stream whose events have ids is taken up again where it ended: the deadline of the call bounds that.
      const onresumptiontoken = (token: string): void => {
        this.#waiting.delete(id);
        options?.onresumptiontoken?.(token);
      };
      return send(message, { ...options, onresumptiontoken });
    };
  }

  /** Sees the answers; once the client listens. */
  watchAnswers(way: Transport): void {
    const read = way.onmessage;
    way.onmessage = (message, extra) => {
      // The SDK takes an id that is a number as a text too.
      if ("id" in message && !("method" in message)) this.#waiting.delete(Number(message.id));
      read?.(message, extra);
    };
  }

  #ended(id: number): void {
    // What arrived is read within this turn of the loop.
    setImmediate(() => {
      if (!this.#waiting.has(id)) return;
      this.#way?.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32_000, message: WORDS, data: OURS } });
    });
  }
}

/** The error of a request that was ended without an answer; undefined for any other error. */
export function unansweredIn(error: unknown): Error | undefined {
  return error instanceof McpError && error.data === OURS ? new Error(WORDS) : undefined;
}

function idIn(body: unknown): number | undefined {
  if (typeof body !== "string") return undefined;
  const message = JSON.parse(body) as JSONRPCMessage;
  return "method" in message && "id" in message ? Number(message.id) : undefined;
}

function seenToItsEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let last = 0;
  return new ReadableStream(
    {
      async pull(to) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            last = value.at(-1) ?? last;
            return to.enqueue(value);
          }
          // Whether a line feed follows is all that the parser of events waits for: it reads no last event without it.
          if (last === CARRIAGE_RETURN) to.enqueue(LINE_FEED);
          to.close();
        } catch (error) {
          to.error(error);
        }
        ended();
      },
      async cancel(reason) {
        ended();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
