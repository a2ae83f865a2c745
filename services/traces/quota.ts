import type { Caller } from "../shared/rpc/call.js";
import { DAY_MS } from "./days.js";
import type { TraceStore, UsageRecord } from "./store.js";

/** Whose spans are counted. */
export type Sender = Pick<Caller, "id" | "service">;

/** What a number of spans takes. */
export interface SpanAmounts {
  readonly spans: number;
  readonly bytes: number;
}

/** What the spans of one user may add up to until they end, and those of all. */
export interface SpanQuota extends SpanAmounts {
  readonly deploymentBytes: number;
}

/** What may be kept if nothing else is set. */
export const SPAN_QUOTA: SpanQuota = { spans: 1_000_000, bytes: 2 ** 31, deploymentBytes: 50 * 2 ** 30 };

/** The spans of all users and of our own services together: no user has such an id. */
export const EVERYONE = "everyone";

/** What a span takes in addition to what it says, about, in bytes. */
const SPAN_BYTES = 512;

/**
 * Takes room for spans of a caller that are not there yet. Room is taken before
 * they are written and comes back when they end, so that callers who send at the
 * same time share it. Spans of our own services count to the deployment alone.
 *
 * @returns the reason, in words for their sender, if there is no room.
 */
export async function takeRoom(
  { usage }: TraceStore,
  quota: SpanQuota,
  caller: Sender,
  own: SpanAmounts,
  expiresAt: Date,
): Promise<string | undefined> {
  if (own.spans === 0) return undefined;
  await Promise.all(countedFor(caller).map((user) => add(usage, user, expiresAt, own)));
  const days = caller.service ? [] : await daysOf(usage, caller.id);
  const used = sum(days);
  const isFull = used.spans > quota.spans || used.bytes > quota.bytes;
  const isDeploymentFull = !isFull && sum(await daysOf(usage, EVERYONE)).bytes > quota.deploymentBytes;
  if (!isFull && !isDeploymentFull) return undefined;
  await giveRoomBack({ usage }, caller, own, expiresAt);
  if (isDeploymentFull)
    return `the ${mebibytes(quota.deploymentBytes)} MiB that this deployment has for spans are in use: ask an administrator to raise TRACE_MEGABYTES`;
  const next = new Date(Math.min(...days.map((one) => one.expires_at.getTime())));
  return (
    `a user can have at most ${quota.spans} spans and ${mebibytes(quota.bytes)} MiB of spans; ` +
    `the oldest expire on ${next.toISOString().slice(0, 10)}`
  );
}

/** Gives the room of spans back that were not kept after all. */
export async function giveRoomBack(
  { usage }: Pick<TraceStore, "usage">,
  caller: Sender,
  own: SpanAmounts,
  expiresAt: Date,
): Promise<void> {
  if (own.spans === 0) return;
  const undone = { spans: -own.spans, bytes: -own.bytes };
  await Promise.all(countedFor(caller).map((user) => add(usage, user, expiresAt, undone)));
}

/** What the spans of a user add up to; {@link EVERYONE} for all. */
export async function usageOf({ usage }: Pick<TraceStore, "usage">, user: string): Promise<SpanAmounts> {
  return sum(await daysOf(usage, user));
}

/** Forgets what is counted for a user whose spans are deleted, and takes it from everyone's. */
export async function forgetUsage({ usage }: Pick<TraceStore, "usage">, user: string): Promise<void> {
  for (const { _id } of await usage.find({ user }).toArray()) {
    const gone = await usage.findOneAndDelete({ _id }, {});
    if (gone === null) continue;
    const day = new Date(gone.expires_at.getTime() - DAY_MS);
    await add(usage, EVERYONE, day, { spans: -gone.spans, bytes: -gone.bytes });
  }
}

/** Adds up what was counted for each user before everyone's spans were: once. Only a sum for each day is in memory. */
export async function countEveryone({ usage }: Pick<TraceStore, "usage">): Promise<void> {
  if ((await usage.findOne({ user: EVERYONE })) !== null) return;
  const days = new Map<number, SpanAmounts>();
  for await (const { expires_at, ...one } of usage.find({ user: { $gt: "" } }))
    days.set(expires_at.getTime(), sum([days.get(expires_at.getTime()) ?? sum([]), one]));
  for (const [end, { spans, bytes }] of days) {
    const { _id } = recordOf(EVERYONE, new Date(end - DAY_MS));
    const $set = { user: EVERYONE, spans, bytes, expires_at: new Date(end) };
    await usage.updateOne({ _id }, { $set }, { upsert: true });
  }
}

function countedFor({ id, service }: Sender): readonly string[] {
  return service ? [EVERYONE] : [id, EVERYONE];
}

async function add(usage: TraceStore["usage"], user: string, expiresAt: Date, by: SpanAmounts): Promise<void> {
  const { _id, ends } = recordOf(user, expiresAt);
  await usage.updateOne({ _id }, { $inc: { ...by }, $setOnInsert: { user, expires_at: ends } }, { upsert: true });
}

async function daysOf(usage: TraceStore["usage"], user: string): Promise<UsageRecord[]> {
  return usage.find({ user, expires_at: { $gt: new Date() } }).toArray();
}

/** Amounts together. */
export function sum(some: readonly SpanAmounts[]): SpanAmounts {
  return {
    spans: some.reduce((total, one) => total + one.spans, 0),
    bytes: some.reduce((total, one) => total + one.bytes, 0),
  };
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}

/** The record of the day on which spans end: it ends with the last of them. */
function recordOf(id: string, expiresAt: Date): { readonly _id: string; readonly ends: Date } {
  const day = expiresAt.toISOString().slice(0, 10);
  return { _id: `${id}.${day}`, ends: new Date(Date.parse(day) + DAY_MS) };
}

/** What spans take. @param bytes of the spans, with those of their resources. */
export function amountsOf(spans: number, bytes: number): SpanAmounts {
  return { spans, bytes: bytes + spans * SPAN_BYTES };
}
