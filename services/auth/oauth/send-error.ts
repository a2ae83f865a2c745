import type { ServerResponse } from "node:http";

/** Sends an error as OAuth endpoints write them (RFC 6749 section 5.2). */
export function sendError(response: ServerResponse, status: number, error: string, description: string): void {
  response
    .writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
    .end(JSON.stringify({ error, error_description: description }));
}
