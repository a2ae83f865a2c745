import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EventKind, EventSchema } from "#proto/auth/v1/watch_service_pb.js";

/** An event to tell watchers of: what kind of thing changed, and which one. */
export interface WatchEvent {
  readonly kind: EventKind;
  /** The id of the key, user, setting or platform, or the name of the ring. */
  readonly id: string;
}

/** An event with its place in the order of all events. */
export type LoggedEvent = MessageInitShape<typeof EventSchema> & { readonly seq: bigint };

/** The newest events, numbered without gaps. */
export class EventLog {
  readonly #kept: LoggedEvent[] = [];
  readonly #limit: number;
  /** The last event that is no longer kept. */
  #forgotten: number;
  #seq: number;

  /**
   * @param last the number of the event before the first.
   * @param limit how many events are kept.
   */
  constructor(last: number, limit: number) {
    this.#limit = limit;
    this.#seq = last;
    this.#forgotten = last;
  }

  /** The number of the newest event. */
  get seq(): number {
    return this.#seq;
  }

  /** Numbers an event and keeps it. */
  append({ kind, id }: WatchEvent): LoggedEvent {
    const event = { seq: BigInt(++this.#seq), kind, id };
    this.#kept.push(event);
    while (this.#kept.length > this.#limit) this.#forgotten = Number((this.#kept.shift() as LoggedEvent).seq);
    return event;
  }

  /** The events after a number; undefined where some of them are no longer known. */
  after(seq: number): readonly LoggedEvent[] | undefined {
    if (seq < this.#forgotten || seq > this.#seq) return undefined;
    return this.#kept.filter((event) => Number(event.seq) > seq);
  }
}
