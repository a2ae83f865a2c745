import { httpRefusalOf } from "../admission/refusals.js";
import type { Endpoint } from "../catalogue/endpoints.js";
import type { Exchange } from "../http/exchange.js";
import { answerRefusal } from "./refuse.js";
import { McpRequest, type Serving, type Step } from "./request.js";
import type { McpContext } from "./server.js";
import { authenticate } from "./steps/bearer.js";
import { readBody } from "./steps/body.js";
import { checkType } from "./steps/content-type.js";
import { serveEra } from "./steps/era.js";
import { checkLength } from "./steps/length.js";
import { readMessage } from "./steps/message.js";
import { checkMethod } from "./steps/method.js";
import { checkOrigin } from "./steps/origin.js";
import { readQuery } from "./steps/query.js";
import { takeSlot } from "./steps/slot.js";
import { checkState } from "./steps/state.js";
import { takeTurn } from "./steps/turn.js";

/** The methods that an endpoint answers; others are 405. */
export const ENDPOINT_METHODS = ["POST", "OPTIONS"] as const;

/** What a request meets, in this order. The first refusal wins. */
const STEPS: readonly Step[] = [
  checkMethod, //   405
  checkOrigin, //   403
  authenticate, //  401 · 429 · 503
  checkState, //    403 · 404 · 503
  checkType, //     415
  takeSlot, //      429 · 503
  readBody, //      waits for it
  checkLength, //   413 · 408 · 429 · 400
  takeTurn, //      waits in the queue of its key
  readMessage, //   400
  readQuery, //     400
  serveEra, //      the protocol's own refusals, and the answer
];

/** What an endpoint asks of a request, and what answers it. */
export interface ServeOptions extends Omit<Serving, "context"> {
  readonly context: Omit<McpContext, "refuse">;
}

/** Answers a request to an endpoint. */
export type Serve = (exchange: Exchange, endpoint: Endpoint) => void;

/** Builds what answers a request to an endpoint. */
export function createServe(options: ServeOptions): Serve {
  const context: McpContext = {
    ...options.context,
    refuse: ({ exchange, endpoint, headers }, refused, id) =>
      answerRefusal(exchange, httpRefusalOf(refused, endpoint.challenge), headers, id),
  };
  const serving: Serving = { ...options, context };
  return (exchange, endpoint) => new McpRequest(STEPS, serving, exchange, endpoint).goOn();
}
