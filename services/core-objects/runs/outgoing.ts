import type { LookupFunction } from "node:net";
import { type RequestInit, Response, fetch as send } from "undici";
import { createOutgoingAgent } from "../../shared/outgoing/agent.js";
import { RefusedAddressError } from "../../shared/outgoing/guard.js";
import { calledUrlProblem } from "../../shared/outgoing/named-url.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import type { Redactor } from "./redact.js";

/** How long a connection may take to open, in milliseconds. */
const CONNECT_MS = 10_000;
/** How long anything may be silent, in milliseconds: models think before they answer. */
const SILENT_MS = 180_000;
/** Longest answer that is read, in bytes, as it is once it is decompressed. */
const MAX_BYTES = 8 * 2 ** 20;

/** How runs reach what users name: models, custom tools, remote MCP servers. */
export interface Outgoing {
  /**
   * As the platform's own fetch, but that every address is checked when it is dialled, that nothing is redirected
   * (the answer is the redirect), and that what is too long is broken off.
   */
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/**
 * Opens the way out.
 *
 * @param resolve looks names up, where not the system does.
 */
export function createOutgoing(policy: OutgoingPolicy, resolve?: LookupFunction): Outgoing {
  const dispatcher = createOutgoingAgent({
    policy,
    connectMs: CONNECT_MS,
    resolve,
    headersTimeout: SILENT_MS,
    bodyTimeout: SILENT_MS,
  });

  async function fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = String(input);
    const problem = calledUrlProblem(url.replace(/#.*$/s, ""));
    if (problem !== undefined) throw new Error(`its URL ${problem}`);
    const answer = await send(url, { ...init, dispatcher, redirect: "manual" });
    if (answer.body === null) return answer;
    const body = answer.body.pipeThrough(atMost(MAX_BYTES));
    return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  }

  return { fetch: fetch as unknown as typeof globalThis.fetch, close: () => dispatcher.destroy() };
}

function atMost(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let read = 0;
  return new TransformStream({
    transform(chunk, controller) {
      read += chunk.byteLength;
      if (read > bytes) controller.error(new Error(`its answer is longer than ${bytes / 2 ** 20} MiB`));
      else controller.enqueue(chunk);
    },
  });
}

/** Longest reason that is told, in characters. */
const MAX_REASON = 300;

/** Why nothing came of a request, in words and without what is secret; what a library wrapped is looked for inside. */
export function failureOf(error: unknown, redactor: Redactor): string {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error; depth++) {
    if (inner instanceof RefusedAddressError) return inner.message;
    if (inner.cause === undefined) break;
    inner = inner.cause;
  }
  const { code, message } = inner as { readonly code?: string; readonly message?: string };
  if (code === "ECONNREFUSED") return "it does not listen there";
  if (code === "ENOTFOUND") return "its name is not known";
  return redactor.redact(message ?? String(error)).slice(0, MAX_REASON);
}
