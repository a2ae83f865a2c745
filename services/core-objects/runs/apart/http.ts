import { createBoundedFetch, dispatcherOf, plainError } from "../../../shared/isolation/apart/bounded-fetch.js";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { serveThread } from "../../../shared/process/thread.js";
import { isUnclear, marked } from "./unclear.js";

// The client of custom tools: one request, whose answer is a text that nobody parses.

const MAX_BYTES = 8 * 2 ** 20;
/** Characters of an answer that are kept, and of where a redirect leads. */
const MAX_TEXT = 128 * 1024;
const MAX_LOCATION = 2_000;

/** A request of a custom tool. */
export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Texts that must match before it is sent. A pattern that takes long ends the process of its own tool alone. */
  readonly matches?: readonly { readonly path: string; readonly pattern: string; readonly text: string }[];
  readonly policy: OutgoingPolicy;
}

/** What came of it. */
export interface HttpAnswer {
  readonly status: number;
  /** Where a redirect leads; "" for nowhere. */
  readonly location: string;
  readonly text: string;
}

const methods = {
  /** Sends a request. @param asked HttpRequest. @returns HttpAnswer. */
  async send(asked: string, signal: AbortSignal): Promise<string> {
    const { url, policy, matches = [], ...init } = JSON.parse(asked) as HttpRequest;
    const wrong = matches.find(({ pattern, text }) => !new RegExp(pattern, "u").test(text));
    if (wrong !== undefined) throw new Error(`${wrong.path}: must match ${wrong.pattern}`);
    const bounds = { bytes: MAX_BYTES, depth: Number.POSITIVE_INFINITY, nodes: Number.POSITIVE_INFINITY };
    const fetch = createBoundedFetch(dispatcherOf(policy), bounds);
    try {
      const answer = await fetch(url, { ...init, signal });
      const { status } = answer;
      const location = (answer.headers.get("location") ?? "").slice(0, MAX_LOCATION);
      const text = (await answer.text()).trim().slice(0, MAX_TEXT);
      return JSON.stringify({ status, location, text } satisfies HttpAnswer);
    } catch (error) {
      throw marked(plainError(error), isUnclear(error));
    }
  },
};

/** What the thread answers to. */
export type HttpMethods = typeof methods;

serveThread(methods, "at once");
