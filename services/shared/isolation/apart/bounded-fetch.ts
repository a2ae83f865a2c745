import type { LookupFunction } from "node:net";
import {
  createOutgoingAgent,
  type Dispatcher,
  type RequestInit,
  Response,
  fetch as send,
} from "../../outgoing/agent.js";
import { RefusedAddressError } from "../../outgoing/guard.js";
import { calledUrlProblem } from "../../outgoing/named-url.js";
import type { OutgoingPolicy } from "../../outgoing/policy.js";
import { isUnanswered, UNANSWERED } from "../../outgoing/unanswered.js";
import { type JsonBounds, JsonMeter } from "../json-bounds.js";
import { MisbehavedError, REFUSED_ADDRESS } from "../misbehaved.js";

/** How long a connection may take to open, in milliseconds. */
const CONNECT_MS = 5_000;
/** How long anything may be silent, in milliseconds: models think before they answer. */
const SILENT_MS = 180_000;
/** Longest reason, in characters. */
const MAX_REASON = 2_000;

const dispatchers = new Map<string, Dispatcher>();

/** The connections of this thread. */
export function dispatcherOf(policy: OutgoingPolicy): Dispatcher {
  const key = JSON.stringify(policy);
  const found = dispatchers.get(key) ?? createDispatcher(policy);
  dispatchers.set(key, found);
  return found;
}

/**
 * Makes connections.
 *
 * @param resolve looks names up, where not the system does.
 */
export function createDispatcher(policy: OutgoingPolicy, resolve?: LookupFunction): Dispatcher {
  return createOutgoingAgent({
    ...{ policy, connectMs: CONNECT_MS, resolve },
    ...{ headersTimeout: SILENT_MS, bodyTimeout: SILENT_MS },
  });
}

/**
 * As the platform's own fetch, but that every address is checked when it is dialled, that nothing is redirected (the
 * answer is the redirect), and that an answer which passes a bound is broken off before anybody parses it.
 *
 * @param harmed hears of that too: who reads a stream does not always tell.
 */
export function createBoundedFetch(
  dispatcher: Dispatcher,
  bounds: JsonBounds,
  harmed: (error: MisbehavedError) => void = () => undefined,
): typeof globalThis.fetch {
  async function fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = String(input);
    const problem = calledUrlProblem(url.replace(/#.*$/s, ""));
    if (problem !== undefined) throw new TypeError(`its URL ${problem}`);
    const answer = await send(url, { ...init, dispatcher, redirect: "manual" });
    if (answer.body === null) return answer;
    const body = answer.body.pipeThrough(measured(new JsonMeter(bounds), harmed));
    return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
  }

  return fetch as unknown as typeof globalThis.fetch;
}

function measured(meter: JsonMeter, harmed: (error: MisbehavedError) => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(piece, controller) {
      try {
        meter.add(piece);
        controller.enqueue(piece);
      } catch (error) {
        controller.error(error);
        harmed(error as MisbehavedError);
      }
    },
  });
}

/** Why nothing came of a request, in words; what a library wrapped is looked for inside. It may hold what is secret. */
export function wordsOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error; depth++) {
    if (inner instanceof RefusedAddressError || inner instanceof MisbehavedError) return inner.message;
    if (inner.cause === undefined) break;
    inner = inner.cause;
  }
  // Which of them it was would say which ports are open.
  if (isUnanswered(inner)) return UNANSWERED;
  const { message } = inner as { readonly message?: string };
  return (message ?? String(error)).slice(0, MAX_REASON);
}

/** What a thread throws in place of an error of a library. */
export function plainError(error: unknown): Error {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error; depth++) {
    if (inner instanceof MisbehavedError) return inner;
    if (inner instanceof RefusedAddressError)
      return Object.assign(new Error(inner.message), { name: REFUSED_ADDRESS, detail: inner.detail });
    inner = inner.cause;
  }
  return new Error(wordsOf(error));
}
