import { gauge } from "../../shared/metrics/metrics.js";
import type { AuthStore } from "../store.js";

const records = gauge(
  "sallyport_audit_export_lag_records",
  "Audit records that a receiver does not have yet, by the receiver's scheme, host and path.",
  ["receiver"],
);
const seconds = gauge(
  "sallyport_audit_export_lag_seconds",
  "Age of the oldest audit record that a receiver does not have yet; 0 if it has all.",
  ["receiver"],
);

/** Reads how far receivers are behind: each process that runs auth reads the same. Returns the end of it. */
export function readLag(store: Pick<AuthStore, "audit" | "auditReceivers">, receivers: readonly URL[]): () => void {
  const each = (read: (after: string) => Promise<number>) => () =>
    Promise.all(
      receivers.map(async (url) => {
        const place = await store.auditReceivers.findOne({ _id: url.href });
        // Its query names files of certificates.
        return { labels: [`${url.protocol}//${url.host}${url.pathname}`], value: await read(place?.after ?? "") };
      }),
    );
  const ends = [
    records.read(
      each(async (after) => {
        const [newest] = await store.audit.find({}, { sort: { _id: -1 }, limit: 1 }).toArray();
        return Math.max(0, Number(newest?._id ?? 0) - Number(after));
      }),
    ),
    seconds.read(
      each(async (after) => {
        const [oldest] = await store.audit.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: 1 }).toArray();
        return oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.recorded_at.getTime()) / 1_000;
      }),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}
