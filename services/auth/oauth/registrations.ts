import type { IncomingMessage, ServerResponse } from "node:http";
import type { Rate } from "../../shared/limits/bucket.js";
import { Buckets } from "../../shared/limits/buckets.js";
import { sendError } from "./send-error.js";

/** Registrations of one address, behind which an office may be: at once, and then a second. */
const RATE: Rate = { burst: 100, perSecond: 100 / 3600 };
/** Longest registration, in bytes. */
const MAX_BYTES = 8 << 10;
const ADDRESSES = 10_000;

/** What is asked of a registration before the library sees it: anybody may send one, and each is kept for a day. */
export class Registrations {
  readonly #buckets = new Buckets(RATE, ADDRESSES);

  /** Answers what needs no registration: a preflight, or one too many. The library lets browsers read all but this endpoint. */
  answers(request: IncomingMessage, response: ServerResponse, address: string): boolean {
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
    if (Number(request.headers["content-length"] ?? 0) > MAX_BYTES) {
      sendError(response, 413, "invalid_client_metadata", "the metadata is longer than 8 KiB: send less");
      return true;
    }
    const wait = this.#buckets.take(address);
    if (wait === 0) return false;
    response.setHeader("retry-after", String(Math.ceil(wait)));
    const said = "too many clients were registered from this address: try again later";
    sendError(response, 429, "temporarily_unavailable", said);
    return true;
  }
}
