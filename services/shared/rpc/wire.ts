import { isUtf8 } from "node:buffer";
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { invalidArgument, resourceExhausted } from "./errors.js";

// What a message costs to decode is not its bytes but its elements: 4 MB can be
// two million empty messages. A walk over the tags alone is some fifty times
// cheaper than decoding, and allocates nothing. It also finds everything that
// the decoder would trip over, so that it is said in words of ours.

/** What a message may be made of. */
export interface Shape {
  /** Fields, items and entries, those that are not known included. */
  readonly elements: number;
  /** Messages inside messages. */
  readonly depth: number;
}

/**
 * Checks the bytes of a message before they are decoded (protobuf encoding,
 * "Message Structure").
 *
 * @throws ConnectError invalid_argument where they are not such a message,
 *   resource_exhausted where it is made of more than it may.
 */
export function checkWire(desc: DescMessage, bytes: Uint8Array, shape: Shape): void {
  new Walk(bytes, shape, false).message(planOf(desc), 0, bytes.length, shape.depth);
}

/**
 * Checks the bytes with which a message begins; whether they are one is seen when all of it has come.
 *
 * @throws ConnectError resource_exhausted where it is made of more than it may already.
 */
export function checkWireBegun(desc: DescMessage, bytes: Uint8Array, shape: Shape): void {
  try {
    new Walk(bytes, shape, true).message(planOf(desc), 0, bytes.length, shape.depth);
  } catch (error) {
    if (ConnectError.from(error).code === Code.ResourceExhausted) throw error;
  }
}

/** How the values of a field are checked. */
interface Plan {
  readonly wire: WireType;
  /** A list whose items may come in one piece. */
  readonly packs: boolean;
  readonly isText: boolean;
  /** Made when it is first needed: messages may contain themselves. */
  readonly inner: (() => ReadonlyMap<number, Plan>) | undefined;
  /** An entry of a map has a key and a value, and nothing else. */
  readonly isEntry: boolean;
}

const plans = new WeakMap<DescMessage, ReadonlyMap<number, Plan>>();

function planOf(desc: DescMessage): ReadonlyMap<number, Plan> {
  let plan = plans.get(desc);
  if (plan === undefined) {
    plan = new Map(desc.fields.map((field) => [field.number, planOfField(field)]));
    plans.set(desc, plan);
  }
  return plan;
}

function planOfField(field: DescField): Plan {
  if (field.fieldKind !== "map") return planOfValue(field, field.fieldKind === "list");
  const entry = new Map([
    [1, planOfScalar(field.mapKey, false)],
    [2, planOfValue(field, false)],
  ]);
  return { wire: WireType.LengthDelimited, packs: false, isText: false, inner: () => entry, isEntry: true };
}

function planOfValue({ scalar, enum: words, message }: DescField, isList: boolean): Plan {
  if (scalar !== undefined) return planOfScalar(scalar, isList);
  if (words !== undefined) return planOfScalar(ScalarType.INT32, isList);
  const inner = () => planOf(message as DescMessage);
  return { wire: WireType.LengthDelimited, packs: false, isText: false, inner, isEntry: false };
}

function planOfScalar(type: ScalarType, isList: boolean): Plan {
  const wire = WIRES[type] ?? WireType.Varint;
  const packs = isList && wire !== WireType.LengthDelimited;
  return { wire, packs, isText: type === ScalarType.STRING, inner: undefined, isEntry: false };
}

const WIRES: Partial<Record<ScalarType, WireType>> = {
  [ScalarType.STRING]: WireType.LengthDelimited,
  [ScalarType.BYTES]: WireType.LengthDelimited,
  [ScalarType.DOUBLE]: WireType.Bit64,
  [ScalarType.FIXED64]: WireType.Bit64,
  [ScalarType.SFIXED64]: WireType.Bit64,
  [ScalarType.FLOAT]: WireType.Bit32,
  [ScalarType.FIXED32]: WireType.Bit32,
  [ScalarType.SFIXED32]: WireType.Bit32,
};

class Walk {
  private at = 0;
  private left: number;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly shape: Shape,
    /** More is to come: what lasts longer than what is there goes on. */
    private readonly isBegun: boolean,
  ) {
    this.left = shape.elements;
  }

  message(plan: ReadonlyMap<number, Plan>, start: number, end: number, depth: number, isEntry = false): void {
    if (depth <= 0) throw resourceExhausted(`the message is nested deeper than ${this.shape.depth} levels`);
    this.at = start;
    while (this.at < end) {
      this.take(1);
      const tag = this.varint(end, TAG_BYTES);
      const wire = tag & 7;
      const field = plan.get(tag >>> 3);
      if (tag >>> 3 === 0 || (isEntry && field === undefined)) throw malformed();
      if (field === undefined) this.skip(wire, end);
      else this.value(field, wire, end, depth);
    }
    if (this.at !== end) throw malformed();
  }

  private value(field: Plan, wire: number, end: number, depth: number): void {
    const isPacked = field.packs && wire === WireType.LengthDelimited;
    if (wire !== field.wire && !isPacked) throw malformed();
    if (wire !== WireType.LengthDelimited) {
      this.skip(wire, end);
      return;
    }
    const from = this.pieceEnd(end);
    const to = this.at;
    if (field.inner !== undefined) this.message(field.inner(), from, to, depth - 1, field.isEntry);
    else if (field.isText) {
      // What has begun is looked at for its parts; its texts are when it is whole.
      if (!this.isBegun && !this.isText(from, to)) throw invalidArgument("the message contains text that is not UTF-8");
    } else if (isPacked) this.packed(field.wire, from, to);
  }

  /** Most texts are short and ASCII: these are not worth a call of what is not JavaScript. */
  private isText(from: number, to: number): boolean {
    const { bytes } = this;
    let at = from;
    if (to - from <= SHORT_TEXT) while (at < to && (bytes[at] as number) < 0x80) at++;
    return at === to || isUtf8(bytes.subarray(from, to));
  }

  private packed(wire: number, from: number, to: number): void {
    this.at = from;
    while (this.at < to) {
      this.take(1);
      this.skip(wire, to);
    }
  }

  /** Passes a length and as many bytes; returns where they begin. */
  private pieceEnd(end: number): number {
    const length = this.varint(end, TAG_BYTES);
    const from = this.at;
    if (length > end - from && !this.isBegun) throw malformed();
    this.at = Math.min(from + length, end);
    return from;
  }

  private skip(wire: number, end: number): void {
    if (wire === WireType.Varint) this.varint(end, MAX_VARINT_BYTES);
    else if (wire === WireType.Bit64) this.at += 8;
    else if (wire === WireType.Bit32) this.at += 4;
    else if (wire === WireType.LengthDelimited) this.pieceEnd(end);
    // Groups are of proto2, and no message of proto3 holds one.
    else throw malformed();
    if (this.at > end) throw malformed();
  }

  /** Reads a varint; of a long one the lower 32 bits. */
  private varint(end: number, most: number): number {
    let value = 0;
    for (let i = 0; i < most && this.at < end; i++) {
      const byte = this.bytes[this.at++] as number;
      if (i < TAG_BYTES) value |= (byte & 0x7f) << (7 * i);
      if (byte >= 0x80) continue;
      if (most === TAG_BYTES && i === TAG_BYTES - 1 && byte > 0x0f) throw malformed();
      return value >>> 0;
    }
    throw malformed();
  }

  private take(count: number): void {
    this.left -= count;
    if (this.left < 0) {
      throw resourceExhausted(`the message has more than ${this.shape.elements} elements: send fewer at a time`);
    }
  }
}

/** Bytes of a text that is looked at here. */
const SHORT_TEXT = 64;
/** A tag and a length are varints of 32 bits. */
const TAG_BYTES = 5;
/** The longest varint, of 64 bits. */
const MAX_VARINT_BYTES = 10;

function malformed(): Error {
  return invalidArgument("the bytes are not a valid message of this rpc");
}
