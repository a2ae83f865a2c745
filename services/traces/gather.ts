import { createHash } from "node:crypto";
import { agentIdIn, type Gist, GistSums } from "./gist.js";
import type { Glance } from "./glance.js";
import { HEAD_BYTES, keyIn, writeHead } from "./head.js";
import type { ReadResource } from "./resource.js";
import { shapedOf } from "./shaped.js";
import type { ReadSpan } from "./span.js";

/** Spans of one trace, read, and not yet anybody's. */
export interface ReadTrace {
  /** Lower-case hexadecimal. */
  readonly traceId: string;
  /** A fingerprint of the ids of its spans. */
  readonly batch: string;
  readonly gist: Gist;
  readonly packs: readonly Pack[];
  readonly long: readonly LongSpan[];
}

/** Spans from one resource, as they came. */
export interface Pack {
  readonly resource: Uint8Array | undefined;
  /** Their heads, one behind the other, and the spans in the same order. */
  readonly heads: Uint8Array;
  readonly spans: Uint8Array;
}

/** A span with documents of its own: it is too long to be kept among others, or comes with few of them. */
export interface LongSpan {
  /** Of its id (head.ts). */
  readonly key: string;
  readonly span: ReadSpan;
  /** With its resource. */
  readonly bytes: number;
}

/** Bytes of a span with its resource, up to which it is kept among others. */
export const SHORT_BYTES = 32 << 10;
/** Bytes of a fingerprint. */
const PRINT_BYTES = 12;

/** Gathers the spans of an export by trace. */
export class Gathering {
  readonly #traces = new Map<string, Trace>();
  readonly #agents = new Set<string>();
  #last: Trace | undefined;
  #lastId = "";
  count = 0;

  /**
   * Takes a span in; one that is there twice counts once.
   *
   * @param glance has looked at it; @param raw its bytes; @param nth which event of its export it is, 0 for a span.
   */
  add(glance: Glance, raw: Uint8Array, resource: ReadResource | undefined, nth = 0): void {
    const { bytes, traceAt } = glance;
    const id = bytes.toString("latin1", traceAt, traceAt + TRACE_BYTES);
    if (this.#last === undefined || this.#lastId !== id) {
      this.#last = this.#traces.get(id) ?? new Trace();
      this.#lastId = id;
      this.#traces.set(id, this.#last);
    }
    if (!this.#last.add(glance, raw, resource, nth)) return;
    this.count++;
    const agent = agentIdIn(glance);
    if (agent !== "" && agent.length <= MAX_AGENT_ID) this.#agents.add(agent);
  }

  /** The agents that the spans name. */
  get agents(): string[] {
    return [...this.#agents];
  }

  get traces(): ReadTrace[] {
    return [...this.#traces].map(([id, trace]) => trace.read(Buffer.from(id, "latin1").toString("hex")));
  }
}

const TRACE_BYTES = 16;
const MAX_AGENT_ID = 128;

class Trace {
  readonly #keys = new Set<string>();
  readonly #sums = new GistSums();
  readonly #packs = new Map<ReadResource | undefined, Packing>();
  readonly #long: LongSpan[] = [];

  add(glance: Glance, raw: Uint8Array, resource: ReadResource | undefined, nth: number): boolean {
    writeHead(
      HEAD,
      0,
      { start: glance.start, end: glance.end, isOutermost: !glance.hasParent, nth, size: raw.length },
      glance.bytes,
      glance.idAt,
    );
    const key = keyIn(HEAD, 0);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    this.#sums.add(glance, HEAD, 0, resource?.source ?? "", nth);
    const bytes = raw.length + (resource?.bytes.length ?? 0);
    if (bytes > SHORT_BYTES) this.#long.push({ key, span: shapedOf(raw, resource?.bytes, nth), bytes });
    else this.#packOf(resource).add(HEAD, raw);
    return true;
  }

  #packOf(resource: ReadResource | undefined): Packing {
    let pack = this.#packs.get(resource);
    if (pack === undefined) {
      pack = new Packing();
      this.#packs.set(resource, pack);
    }
    return pack;
  }

  read(traceId: string): ReadTrace {
    const print = createHash("sha256")
      .update([...this.#keys].sort().join(""), "latin1")
      .digest();
    return {
      traceId,
      batch: print.toString("hex", 0, PRINT_BYTES),
      gist: this.#sums.gist,
      packs: [...this.#packs].map(([resource, packing]) => ({ resource: resource?.bytes, ...packing.pack })),
      long: this.#long,
    };
  }
}

/** The head of the span at hand. */
const HEAD = Buffer.alloc(HEAD_BYTES);

class Packing {
  #heads = Buffer.allocUnsafe(16 * HEAD_BYTES);
  #count = 0;
  readonly #spans: Uint8Array[] = [];

  add(head: Buffer, raw: Uint8Array): void {
    const at = this.#count++ * HEAD_BYTES;
    if (at === this.#heads.length) this.#heads = Buffer.concat([this.#heads, Buffer.allocUnsafe(at)]);
    head.copy(this.#heads, at);
    this.#spans.push(raw);
  }

  get pack(): Omit<Pack, "resource"> {
    return { heads: this.#heads.subarray(0, this.#count * HEAD_BYTES), spans: Buffer.concat(this.#spans) };
  }
}
