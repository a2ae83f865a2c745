import { deserialize } from "node:v8";
import { serveThread } from "../../shared/process/thread.js";
import { openBeside } from "../../shared/store/open.js";
import type { OpenedBeside, StorePlace } from "../../shared/store/store.js";
import type { ReadTrace } from "../gather.js";
import { keepSpans } from "../keep-spans.js";
import type { Sender, SpanQuota } from "../quota.js";
import type { Rejects } from "../rejects.js";
import { COLLECTIONS, traceStoreOf } from "../store.js";

/** Spans that reading.ts read, and whose they become. */
export interface KeptApart {
  readonly place: StorePlace;
  readonly quota: SpanQuota;
  /** By trace. */
  readonly traces: Uint8Array;
  readonly sender: Sender;
  readonly usable: readonly string[];
  readonly expiresAt: Date;
}

// This thread holds the store: nothing of others is parsed here, and it is not ended while it writes.
let opened: OpenedBeside | undefined;

const methods = {
  /** @throws ConnectError as keepSpans does. */
  async keep({ place, quota, traces, usable, ...delivery }: KeptApart, signal: AbortSignal): Promise<Rejects> {
    opened ??= await openBeside(place, COLLECTIONS);
    const rejects: Rejects = { count: 0, reasons: new Set() };
    const read = deserialize(traces) as ReadTrace[];
    const all = { ...delivery, traces: read, usable: new Set(usable) };
    await keepSpans(traceStoreOf(opened), quota, all, rejects, () => signal.aborted);
    return rejects;
  },
  async close(): Promise<void> {
    await opened?.close();
    opened = undefined;
  },
};

/** What the thread answers to. */
export type KeepingMethods = typeof methods;

serveThread(methods);
