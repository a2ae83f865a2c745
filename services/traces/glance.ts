import { fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { AnyValueSchema } from "#proto/opentelemetry/proto/common/v1/common_pb.js";
import { Status_StatusCode as StatusCode } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import { keptOf } from "./attributes.js";
import { NO_RANK, SLOTS, type Telling, tellingsIn } from "./fact-keys.js";
import type { Nanos } from "./head.js";
import type { ReadResource } from "./resource.js";
import { EXCESS, MAX_ATTRIBUTES, MAX_KEY, REMOTE_PARENT } from "./span.js";
import { WireCursor } from "./wire-cursor.js";

// A span is kept as it came. What is needed of it before is found in its bytes, without making a message of them: that
// costs a tenth. The bytes are checked (checkWire). span.ts says the same of the message, and a test compares the two.

const SLOT_COUNT = SLOTS.length;
/** Fields of a span and of the messages in it, with their wire types, as tags (opentelemetry/proto/trace/v1/trace.proto). */
const SPAN = {
  trace: 10,
  id: 18,
  parent: 34,
  name: 42,
  start: 57,
  end: 65,
  attribute: 74,
  event: 90,
  status: 122,
  flags: 133,
};
const EVENT_ATTRIBUTE = 26;
const STATUS = { message: 18, code: 24 };
const ENTRY = { key: 10, value: 18 };
const VALUE = { text: 10, boolean: 16, integer: 24 };

/** What is seen of one span after another. */
export class Glance extends WireCursor {
  traceAt = 0;
  idAt = 0;
  hasParent = false;
  isRemote = false;
  isFailed = false;
  /** A field that is told once is there twice: the library says what that means. */
  isTwice = false;
  /** Attributes, events and attributes of these. */
  fields = 0;
  readonly start: Nanos & { high: number; low: number } = { high: 0, low: 0 };
  readonly end: Nanos & { high: number; low: number } = { high: 0, low: 0 };
  #nameFrom = 0;
  #nameTo = 0;
  #messageFrom = 0;
  #messageTo = 0;
  #hasLongKey = false;
  #resource: ReadResource | undefined;
  readonly #events: number[] = [];
  readonly #ranks = new Int32Array(SLOT_COUNT);
  readonly #from = new Int32Array(SLOT_COUNT);
  readonly #to = new Int32Array(SLOT_COUNT);

  constructor() {
    super(Buffer.alloc(0));
  }

  /**
   * Looks at a span.
   *
   * @returns the reason, in words for its sender, where the span is not valid.
   */
  look(bytes: Buffer, from: number, to: number, resource: ReadResource | undefined): string | undefined {
    this.bytes = bytes;
    this.#resource = resource;
    this.#reset();
    const lengths = this.#span(from, to);
    for (let i = 0; i < this.#events.length; i += 2)
      this.#event(this.#events[i] as number, this.#events[i + 1] as number);
    if (lengths.trace !== 16 || this.#isZero(this.traceAt, 16)) return "a trace_id is not 16 bytes or all zero";
    if (lengths.id !== 8 || this.#isZero(this.idAt, 8)) return "a span_id is not 8 bytes or all zero";
    if (lengths.parent > 0 && lengths.parent !== 8) return "a parent_span_id is not 8 bytes";
    this.hasParent = lengths.parent > 0;
    const { start, end } = this;
    if (start.high === 0 && start.low === 0) return "a span has no start time";
    if (end.high < start.high || (end.high === start.high && end.low < start.low)) Object.assign(end, start);
    const own = 1 + this.fields;
    if (own + (resource === undefined ? 0 : 1 + resource.fields) > MAX_ATTRIBUTES) return EXCESS.attributes;
    return this.#hasLongKey || resource?.hasLongKey === true ? EXCESS.key : undefined;
  }

  get name(): string {
    return this.bytes.toString("utf8", this.#nameFrom, this.#nameTo);
  }

  /** What the status says. */
  get message(): string {
    return this.bytes.toString("utf8", this.#messageFrom, this.#messageTo);
  }

  /** The rank of the key that tells a fact: {@link NO_RANK} where none does. */
  rankOf(slot: number): number {
    return Math.min(this.#ranks[slot] as number, this.#resource?.ranks[slot] ?? NO_RANK);
  }

  /** What that key has. */
  textOf(slot: number): string | undefined {
    const rank = this.#ranks[slot] as number;
    const resource = this.#resource;
    if (resource !== undefined && (resource.ranks[slot] as number) < rank) return resource.texts[slot];
    return rank === NO_RANK ? undefined : this.#text(this.#from[slot] as number, this.#to[slot] as number);
  }

  #reset(): void {
    this.#ranks.fill(NO_RANK);
    this.#events.length = 0;
    this.fields = 0;
    this.isRemote = this.isFailed = this.isTwice = this.#hasLongKey = false;
    this.#nameFrom = this.#nameTo = this.#messageFrom = this.#messageTo = 0;
    this.start.high = this.start.low = this.end.high = this.end.low = 0;
  }

  #span(from: number, to: number): { readonly trace: number; readonly id: number; readonly parent: number } {
    let [trace, id, parent] = [0, 0, 0];
    this.at = from;
    while (this.at < to) {
      const tag = this.varint();
      if (tag === SPAN.start || tag === SPAN.end) {
        this.#nanos(tag === SPAN.start ? this.start : this.end);
        continue;
      }
      if ((tag & 7) !== 2) {
        if (tag === SPAN.flags) this.isRemote = (this.#uint32() & REMOTE_PARENT) === REMOTE_PARENT;
        else this.skip(tag);
        continue;
      }
      const length = this.varint();
      const at = this.at;
      if (tag === SPAN.attribute) this.#attribute(at, at + length);
      else if (tag === SPAN.trace) [this.traceAt, trace] = [at, length];
      else if (tag === SPAN.id) [this.idAt, id] = [at, length];
      else if (tag === SPAN.parent) parent = length;
      else if (tag === SPAN.name) [this.#nameFrom, this.#nameTo] = [at, at + length];
      else if (tag === SPAN.event) this.#events.push(at, at + length);
      else if (tag === SPAN.status) this.#status(at, at + length);
      this.at = at + length;
    }
    return { trace, id, parent };
  }

  #event(from: number, to: number): void {
    this.fields++;
    this.at = from;
    while (this.at < to) {
      const tag = this.varint();
      if ((tag & 7) !== 2) {
        this.skip(tag);
        continue;
      }
      const length = this.varint();
      const at = this.at;
      if (tag === EVENT_ATTRIBUTE) this.#attribute(at, at + length);
      this.at = at + length;
    }
  }

  #status(from: number, to: number): void {
    this.at = from;
    while (this.at < to) {
      const tag = this.varint();
      if (tag === STATUS.code) this.isFailed = this.varint() === StatusCode.ERROR;
      else if (tag === STATUS.message) {
        const length = this.varint();
        [this.#messageFrom, this.#messageTo] = [this.at, this.at + length];
        this.at += length;
      } else this.skip(tag);
    }
  }

  #attribute(from: number, to: number): void {
    this.fields++;
    let [keyFrom, keyTo, valueFrom, valueTo] = [from, from, -1, -1];
    this.at = from;
    while (this.at < to) {
      const tag = this.varint();
      if ((tag & 7) !== 2) {
        this.skip(tag);
        continue;
      }
      const length = this.varint();
      if (tag === ENTRY.key) [keyFrom, keyTo] = [this.at, this.at + length];
      else if (tag === ENTRY.value) {
        if (valueFrom >= 0) this.isTwice = true;
        [valueFrom, valueTo] = [this.at, this.at + length];
      }
      this.at += length;
    }
    if (keyTo - keyFrom > MAX_KEY && this.bytes.toString("utf8", keyFrom, keyTo).length > MAX_KEY)
      this.#hasLongKey = true;
    for (const telling of tellingsIn(this.bytes, keyFrom, keyTo)) this.#tell(telling, valueFrom, valueTo);
  }

  /** The first of those with the same key counts. */
  #tell({ slot, rank }: Telling, from: number, to: number): void {
    if (rank >= (this.#ranks[slot] as number)) return;
    this.#ranks[slot] = rank;
    this.#from[slot] = from;
    this.#to[slot] = to;
  }

  /** A value as text. */
  #text(from: number, to: number): string {
    if (to <= from) return "";
    this.at = from;
    const tag = this.varint();
    const value = this.varint();
    if (tag === VALUE.text && this.at + value === to) return this.bytes.toString("utf8", this.at, to);
    if (tag === VALUE.integer && this.at === to && to - from <= SHORT_INTEGER) return String(value);
    return keptOf(fromBinary(AnyValueSchema, this.bytes.subarray(from, to)) as MessageShape<typeof AnyValueSchema>)
      .text;
  }

  #isZero(at: number, length: number): boolean {
    for (let i = 0; i < length; i++) if (this.bytes[at + i] !== 0) return false;
    return true;
  }

  #nanos(time: { high: number; low: number }): void {
    time.low = this.#uint32();
    time.high = this.#uint32();
  }

  #uint32(): number {
    const { bytes } = this;
    const at = this.at;
    this.at += 4;
    return (
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24)) >>>
      0
    );
  }
}

/** Tag and value of integers below 2^28. */
const SHORT_INTEGER = 5;
