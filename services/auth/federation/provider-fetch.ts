import type { CustomFetch } from "openid-client";
import { JsonMeter } from "../../shared/isolation/json-bounds.js";
import { createOutgoingAgent, fetch, type RequestInit } from "../../shared/outgoing/agent.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";

/** Calls a provider. */
export interface ProviderFetch {
  readonly fetch: CustomFetch;
  close(): Promise<void>;
}

/** How long any request to a provider may take as a whole, in milliseconds. */
export const ANSWER_MS = 5_000;
const CONNECT_MS = 3_000;
const MAX_HEADERS = 32 << 10;
/** Metadata of large providers are 10 KiB, key sets too; a token with many groups is longer. */
const BOUNDS = { bytes: 256 << 10, depth: 16, nodes: 10_000 };

/**
 * Makes the way to providers. Each connection passes the guard of addresses or
 * the proxy, no redirect is followed, and an answer is read no further than its
 * bounds allow, before anybody parses it.
 */
export function createProviderFetch(policy: OutgoingPolicy, answerMs = ANSWER_MS): ProviderFetch {
  const agent = createOutgoingAgent({
    policy,
    connectMs: Math.min(CONNECT_MS, answerMs),
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    maxHeaderSize: MAX_HEADERS,
  });
  return {
    async fetch(url, { method, headers, body, signal }) {
      const init = { method, headers, body, signal, dispatcher: agent, redirect: "manual" } as RequestInit;
      const answer = await fetch(url, init);
      const meter = new JsonMeter(BOUNDS);
      const pieces: Uint8Array[] = [];
      for await (const piece of answer.body ?? []) {
        meter.add(piece);
        pieces.push(piece);
      }
      const content = pieces.length === 0 ? null : Buffer.concat(pieces);
      return new Response(content, { status: answer.status, headers: [...answer.headers] });
    },
    close: () => agent.destroy(),
  };
}
