import type { Known } from "../../services/shared/credentials/known.js";
import type { Shares } from "../../services/shared/limits/shares.js";
import type { Excess } from "../../services/shared/rpc/json-shape.js";
import type { Admit } from "../admission/admit.js";
import type { Origins } from "../admission/origins.js";
import { httpRefusalOf } from "../admission/refusals.js";
import type { RequestSlots } from "../admission/slots.js";
import type { Unauthenticated } from "../admission/unauthenticated.js";
import type { ListOptions } from "../catalogue/endpoint-query.js";
import type { EndpointStates } from "../catalogue/endpoint-states.js";
import type { Endpoint } from "../catalogue/endpoints.js";
import type { McpServer } from "../catalogue/servers.js";
import type { Unread } from "../http/body-reader.js";
import type { Exchange, HeaderList } from "../http/exchange.js";
import { idIn, idOf } from "./json-rpc.js";
import { answerRefusal, MAX_REFUSED_BODY, REFUSED_BODY_MS, type Refusal, readAndRefuse } from "./refuse.js";
import type { Admitted, McpContext } from "./server.js";

/** Longest body of a request, in bytes. */
export const MAX_BODY = 4 << 20;

/** What the steps of a request work with. */
export interface Serving {
  readonly admit: Admit;
  readonly slots: RequestSlots;
  readonly unauthenticated: Unauthenticated;
  readonly states: EndpointStates;
  readonly origins: Origins;
  readonly shares: Shares;
  readonly servers: ReadonlyMap<string, McpServer>;
  readonly context: McpContext;
}

/**
 * What a step comes to: undefined, and the next one runs; a refusal; or "taken", if the step
 * answers the request, or goes on with it later.
 */
export type StepResult = Refusal | "taken" | undefined;

/** One step of a request. */
export type Step = (request: McpRequest) => StepResult;

/** A request to an endpoint, and what its steps have found out so far. One object from the headers to the answer. */
export class McpRequest implements Admitted {
  /** What a JSON answer carries. */
  readonly headers: HeaderList;
  readonly startedAt = performance.now();
  // Set by the steps, in this order; who reads one comes after the step that sets it.
  known!: Known;
  body: string | Buffer | undefined;
  unread: Unread | Excess | undefined;
  message: unknown;
  server!: McpServer;
  options!: ListOptions;
  /** It is refused for want of a slot that its key has already: the refusal too counts for the key. */
  isOverShare = false;
  #next = 0;
  #reading: "not yet" | "begun" | "done" = "not yet";
  #awaitsBody = false;
  #refusal: Refusal | undefined;

  constructor(
    private readonly steps: readonly Step[],
    readonly serving: Serving,
    readonly exchange: Exchange,
    readonly endpoint: Endpoint,
  ) {
    this.headers = serving.origins.headersFor(exchange.headers.origin);
  }

  /** Runs the steps from the next one on, until one refuses or takes the request. */
  goOn(): void {
    while (this.#next < this.steps.length) {
      const result = (this.steps[this.#next++] as Step)(this);
      if (result === undefined) continue;
      if (result !== "taken") this.refuse(result);
      return;
    }
  }

  /** A part of the body was asked for, before it was known who sends it. */
  get isRead(): boolean {
    return this.#reading !== "not yet";
  }

  /** Goes on when a step's answer is there. The request waits in a slot of its address, and its body with the client. */
  wait(pending: Promise<StepResult>): StepResult {
    const { exchange, serving } = this;
    const unavailable = httpRefusalOf("unavailable", this.endpoint.challenge);
    if (!this.isRead) {
      const slot = serving.slots.waiting(exchange);
      if (typeof slot === "string") {
        // It is not known who sends it; a client that is answered at once comes again at once.
        serving.unauthenticated.count(exchange);
        return unavailable;
      }
      exchange.occupy(slot);
      this.#read();
      exchange.hold();
    }
    pending.then(
      (result) => {
        if (result === undefined) this.goOn();
        else if (result !== "taken") this.refuse(result);
      },
      () => this.refuse(unavailable),
    );
    return "taken";
  }

  /** Goes on when the body is read to its end, or not read on. */
  awaitBody(): StepResult {
    const isHere = this.#reading === "done";
    this.#awaitsBody = true;
    if (this.#reading === "not yet") this.#read();
    // Also when the body came with the headers: the connection's next request must be read.
    else this.exchange.letGo();
    return isHere ? undefined : "taken";
  }

  /**
   * Refuses the request, the one way in which that is done: with the id of its message, if the message is there or can
   * be read, and without it otherwise.
   */
  refuse(refusal: Refusal): void {
    const { exchange, headers, serving } = this;
    this.#refusal = refusal;
    if (exchange.method !== "POST") answerRefusal(exchange, refusal, headers);
    else if (!this.isRead) {
      readAndRefuse(exchange, refusal, headers, serving.slots, this.isOverShare ? this.known : undefined);
    } else if (this.#reading === "done") {
      exchange.letGo();
      this.#answer(refusal);
    } else if (this.#hurry()) exchange.letGo();
    else answerRefusal(exchange, refusal, headers);
  }

  #read(): void {
    this.#reading = "begun";
    this.exchange.readJson(MAX_BODY, (body, unread) => {
      this.#reading = "done";
      this.body = body;
      this.unread = unread;
      if (this.#refusal !== undefined) this.#answer(this.#refusal);
      else if (this.#awaitsBody) this.goOn();
    });
  }

  #answer(refusal: Refusal): void {
    const id = "id" in refusal ? refusal.id : this.message === undefined ? idOf(this.body) : idIn(this.message);
    answerRefusal(this.exchange, refusal, this.headers, id);
  }

  /** The rest of a body that is refused is read for the id alone; false if there is no slot to read it in. */
  #hurry(): boolean {
    const { exchange, serving } = this;
    const slot = serving.slots.refused(exchange);
    if (typeof slot === "string" || !exchange.occupy(slot)) return false;
    exchange.bound(MAX_REFUSED_BODY, REFUSED_BODY_MS);
    return true;
  }
}
