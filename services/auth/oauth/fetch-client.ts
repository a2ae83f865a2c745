import { createOutgoingAgent, fetch, type RequestInit, type Response } from "../../shared/outgoing/agent.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";

/** Fetches what a client says of itself: its document, and its keys. */
export type ClientFetch = (url: URL | string, options?: RequestInit) => Promise<Response>;

/** Shorter than anybody waits for a page. */
const CONNECT_MS = 2_000;
const ANSWER_MS = 3_000;
/** The library reads at most 5 KiB; this bounds the headers. */
const MAX_HEADERS = 16 << 10;

/**
 * Makes the way out for what strangers name: each connection passes the guard
 * of addresses, or the proxy, as all of ours do.
 */
export function createClientFetch(policy: OutgoingPolicy): ClientFetch {
  const dispatcher = createOutgoingAgent({
    policy,
    connectMs: CONNECT_MS,
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    maxHeaderSize: MAX_HEADERS,
  });
  return (url, options) => fetch(url, { ...options, dispatcher, redirect: "manual" });
}
