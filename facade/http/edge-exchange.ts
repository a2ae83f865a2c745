import type { Traffic } from "./edge.js";
import { faultOfRepeated } from "./framing.js";
import { Receiving } from "./receiving.js";

/** What exchanges have alike on every edge: headers that come again, a client that goes, an answer whose turn is to come. */
export abstract class EdgeExchange extends Receiving {
  readonly headers: Record<string, string | undefined> = {};
  malformed: string | undefined;
  gone = false;
  postponed = false;
  private goneListeners: (() => void)[] | undefined;

  constructor(protected readonly traffic: Traffic) {
    super(traffic.bodyMs);
    traffic.inFlight++;
  }

  abstract close(): void;

  /** Takes a header whose name has come before, with that value or as a name that every object has. */
  protected repeat(name: string, before: unknown, value: string): void {
    // A name that every object has is not there yet.
    if (typeof before !== "string") this.headers[name] = value;
    else if (before !== value) this.headers[name] = `${before}${name === "cookie" ? "; " : ", "}${value}`;
    this.malformed ??= faultOfRepeated(name);
  }

  onGone(listener: () => void) {
    if (this.gone) return listener();
    this.goneListeners ??= [];
    this.goneListeners.push(listener);
  }

  postpone(): void {
    this.postponed = true;
  }

  inTurn(run: () => void) {
    if (!this.postponed) return run();
    this.postponed = false;
    // Nothing more of the body is taken until then.
    if (!this.bodyEnded) this.pause();
    if (!this.traffic.late.add(run)) this.close();
  }

  /** The client hung up. */
  protected abort() {
    this.gone = true;
    if (this.over) return;
    this.finish();
    for (const listener of this.goneListeners ?? []) listener();
  }

  /** To be called before the last write: the connection's next request must be read. */
  protected complete(): void {
    this.resume();
    this.finish();
  }

  /** Answered, or gone. */
  protected finish(): void {
    this.over = true;
    this.traffic.inFlight--;
    this.leave();
  }
}
