import type { IncomingMessage, ServerResponse } from "node:http";
import type { Rate } from "../../shared/limits/bucket.js";
import { Buckets } from "../../shared/limits/buckets.js";
import { sendError } from "./send-error.js";

/** Registrations of one address, behind which an office may be: at once, and then a second. */
const RATE: Rate = { burst: 100, perSecond: 100 / 3600 };
/** Longest registration, in bytes. */
const MAX_BYTES = 8 << 10;
const ADDRESSES = 10_000;

/** Who registers a client, and the metadata as they were sent. */
export interface Sender {
  readonly address: string;
  readonly body: Uint8Array;
}

/** What is asked of a registration before the library sees it: anybody may send one, and each is kept for a day. */
export class Registrations {
  readonly #buckets = new Buckets(RATE, ADDRESSES);

  /**
   * Answers what needs no registration: a preflight, one too many, or one that the library cannot read. The library lets
   * browsers read all but this endpoint.
   */
  answers(request: IncomingMessage, response: ServerResponse, { address, body }: Sender): boolean {
    response.setHeader("access-control-allow-origin", "*");
    if (request.method === "OPTIONS") {
      response
        .writeHead(204, {
          "access-control-allow-methods": "POST",
          "access-control-allow-headers": "content-type, mcp-protocol-version",
          "access-control-max-age": "3600",
        })
        .end();
      return true;
    }
    if (body.length > MAX_BYTES) {
      sendError(response, 413, "invalid_client_metadata", "the metadata is longer than 8 KiB: send less");
      return true;
    }
    const wait = this.#buckets.take(address);
    if (wait > 0) {
      response.setHeader("retry-after", String(Math.ceil(wait)));
      const said = "too many clients were registered from this address: try again later";
      sendError(response, 429, "temporarily_unavailable", said);
      return true;
    }
    const wrong = algorithmOf(body);
    if (wrong === undefined) return false;
    sendError(response, 400, "invalid_client_metadata", `${wrong} must be a text`);
    return true;
  }
}

/** The name of an algorithm whose value is an object or a list: the library reads it as a text and fails. Undefined if all are texts. */
function algorithmOf(body: Uint8Array): string | undefined {
  let metadata: unknown;
  try {
    metadata = JSON.parse(Buffer.from(body).toString());
  } catch {
    // The library says what is wrong with it.
    return undefined;
  }
  const isObject = typeof metadata === "object" && metadata !== null;
  const members = isObject ? Object.entries(metadata as Record<string, unknown>) : [];
  return members.find(
    ([name, value]) => /_(?:alg|enc)$/.test(name) && typeof value === "object" && value !== null,
  )?.[0];
}
