import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { SpanSchema } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import { DAY_MS } from "./days.js";
import { Gathering, type ReadTrace } from "./gather.js";
import { durationOf, msOf, namedTwice } from "./gist.js";
import { Glance } from "./glance.js";
import { piecesOf } from "./pieces.js";
import { type Rejects, reject } from "./rejects.js";
import { type ReadResource, readResource } from "./resource.js";

const MAX_SPANS = 4096;
/** The most attributes of all spans of an export; those of a resource count for each of its spans. */
const MAX_FIELDS = 200_000;
/** How far ahead of ours a sender's clock may be. */
const MAX_AHEAD_MS = DAY_MS / 2;
// Numbers of fields (opentelemetry/proto/collector/trace/v1/trace_service.proto, trace/v1/trace.proto).
const RESOURCE_SPANS = 1;
const [RESOURCE, SCOPE_SPANS] = [1, 2];
const SPANS = 2;

/** What an export says. */
export interface ReadSpans {
  readonly traces: readonly ReadTrace[];
  /** The agents that its spans name. */
  readonly agents: readonly string[];
  readonly rejects: Rejects;
  /** The user whose run the spans are of, where one of our own services says so. */
  readonly owner: string | undefined;
}

/**
 * Reads the spans of an export; those that cannot be taken are counted.
 *
 * @param bytes of a message that was checked (checkWire).
 */
export function readSpans(bytes: Uint8Array, retentionDays: number): ReadSpans {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reading = new Reading(retentionDays);
  let owner: string | undefined;
  forEachPiece(all, 0, all.length, RESOURCE_SPANS, (from, to, i) => {
    const resource = resourceIn(all, from, to);
    if (i === 0) owner = resource?.owner;
    forEachPiece(all, from, to, SCOPE_SPANS, (scopeFrom, scopeTo) =>
      forEachPiece(all, scopeFrom, scopeTo, SPANS, (at, end) => reading.take(all, at, end, resource)),
    );
  });
  const { traces, agents } = reading.gathering;
  return { traces, agents, rejects: reading.rejects, owner };
}

class Reading {
  readonly gathering = new Gathering();
  readonly rejects: Rejects = { count: 0, reasons: new Set() };
  readonly #glance = new Glance();
  #fields = 0;
  #taken = 0;

  constructor(private readonly retentionDays: number) {}

  /** Takes a span in, or counts it. */
  take(bytes: Buffer, from: number, to: number, resource: ReadResource | undefined): void {
    const refusal = this.#taken < MAX_SPANS ? this.#take(bytes, from, to, resource) : TOO_MANY_SPANS;
    if (refusal !== undefined) reject(this.rejects, 1, refusal);
  }

  #take(bytes: Buffer, from: number, to: number, resource: ReadResource | undefined): string | undefined {
    if (this.#fields >= MAX_FIELDS) return TOO_MANY_FIELDS;
    const glance = this.#glance;
    let raw: Buffer = bytes.subarray(from, to);
    let refusal = glance.look(bytes, from, to, resource);
    if (glance.isTwice) {
      raw = Buffer.from(toBinary(SpanSchema, fromBinary(SpanSchema, raw)));
      refusal = glance.look(raw, 0, raw.length, resource);
    }
    refusal ??= misdated(msOf(glance.start), durationOf(glance), this.retentionDays);
    if (refusal !== undefined) return refusal;
    this.#taken++;
    this.#fields += glance.fields + (resource?.fields ?? 0) + namedTwice(glance) + (glance.isFailed ? 1 : 0);
    this.gathering.add(glance, raw, resource);
    return undefined;
  }
}

const TOO_MANY_SPANS = `an export can have at most ${MAX_SPANS} spans`;
const TOO_MANY_FIELDS =
  `an export can have at most ${MAX_FIELDS} attributes, ` + "and those of a resource count once for each of its spans";

function forEachPiece(
  bytes: Buffer,
  from: number,
  to: number,
  field: number,
  visit: (from: number, to: number, i: number) => void,
): void {
  const pieces = piecesOf(bytes, from, to, field);
  for (let i = 0; i < pieces.length; i += 2) visit(pieces[i] as number, pieces[i + 1] as number, i / 2);
}

/** A resource that comes in parts is what these are one behind the other (protobuf encoding, "Last One Wins"). */
function resourceIn(bytes: Buffer, from: number, to: number): ReadResource | undefined {
  const parts: Buffer[] = [];
  forEachPiece(bytes, from, to, RESOURCE, (at, end) => void parts.push(bytes.subarray(at, end)));
  if (parts.length === 0) return undefined;
  return readResource(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
}

/**
 * Why a span cannot be kept under its time: one of long ago would outlive its
 * days, one from ahead would stand before all others until then.
 */
export function misdated(
  began: number,
  durationMs: number,
  retentionDays: number,
  now = Date.now(),
): string | undefined {
  if (began < now - retentionDays * DAY_MS)
    return `a span began more than ${retentionDays} days ago, and spans are kept for ${retentionDays} days`;
  if (began + durationMs <= now + MAX_AHEAD_MS) return undefined;
  return "a span is dated more than 12 hours ahead; set the clock of the sender";
}
