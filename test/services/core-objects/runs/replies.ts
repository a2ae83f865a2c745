import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asked, Reply } from "./model-server.js";

// What services of models answer, in short words, and what becomes of a run that was asked about 100 tokens at a time.

/** One behaviour, and what it comes to. */
export interface Behaviour {
  /** The nth request of the run, from 0. */
  readonly reply: (n: number, asked: Asked) => Reply;
  readonly state: "COMPLETED" | "FAILED" | "TIMED_OUT";
  readonly reason?: "MODEL_FAILED" | "CUT" | "FILTERED" | "REFUSED" | "EMPTY" | "TIMEOUT" | "BUDGET";
  /** The run's sentence, if it failed. */
  readonly says?: RegExp;
  readonly output?: string;
  readonly requests: number;
  /** Tokens in and out; undefined where they are estimated. */
  readonly tokens?: readonly [number, number];
  /** Money counted; undefined where tokens are estimated. null if the price is not known. */
  readonly cost?: number | null;
  readonly timeoutSeconds?: number;
  /** What its agent has in addition, and what its run is triggered with. */
  readonly agent?: object;
  readonly trigger?: object;
}

/** A model that always answers: the second one of agents that have two. */
export const SECOND = "the second";

/** What each model costs, for a million tokens; but the one without a price. */
export const PRICE = { input: 2, output: 10, cached: 0.5 };
export const UNPRICED = "a model without a price";
/** What one request of 100 tokens in and 10 out costs. */
export const ONE = 0.0003;
/** So many of them. */
export const costs = (requests: number): number => Number((ONE * requests).toFixed(6));

export const USAGE = { prompt_tokens: 100, completion_tokens: 10 };
export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Reply => ({
  respond(response) {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  },
});
export const choice = (message: unknown, finish_reason: string | null = "stop", usage: object | null = USAGE): Reply =>
  json({ choices: [{ index: 0, message, finish_reason }], ...(usage !== null && { usage }) });
export const says = (content: unknown, finish?: string | null, usage?: object | null): Reply =>
  choice({ role: "assistant", content }, finish, usage);
export const refusal = (status: number, error: object, headers: Record<string, string> = {}): Reply =>
  json({ error }, status, headers);
export const events = (...all: readonly (object | string)[]): Reply => ({
  async respond(response: ServerResponse) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const one of all) {
      response.write(`data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`);
      await sleep(5);
    }
    response.end();
  },
});
export const delta = (one: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: one, finish_reason }],
});
export const USED = { choices: [], usage: USAGE };
export const LIST = "core__list_agents";
export const toolThen = (first: Reply) => (n: number) => (n === 0 ? first : says("Done."));
export const always = (reply: Reply) => () => reply;
type End = Omit<Behaviour, "reply">;
export const done = (requests: number, output = "Done."): End => ({
  ...{ state: "COMPLETED", output, requests },
  ...{ tokens: [100 * requests, 10 * requests], cost: costs(requests) },
});
export const failed = (
  reason: NonNullable<Behaviour["reason"]>,
  about: RegExp,
  requests: number,
  tokens: readonly [number, number],
): End => ({ state: "FAILED", reason, says: about, requests, tokens, cost: costs(tokens[0] / 100) });

export function callOf(id: string, name: string, text = "{}"): object {
  return { id, type: "function", function: { name, arguments: text } };
}
