import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { COLLECTIONS, openTraceStore, type TraceRecord } from "../../../services/traces/store.js";

test("traces that failed before there was an index of them are found by it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "failed-"));
  const store = await openEmbeddedStore(folder);
  try {
    await store.ensure(COLLECTIONS.map((spec) => ({ ...spec, migrations: [] })));
    const older = store.collection<TraceRecord>("traces");
    for (const [_id, error_count] of [
      ["fine", 0],
      ["failed", 2],
    ] as const)
      await older.updateOne({ _id }, { $set: { error_count, order: _id } }, { upsert: true });

    const { traces } = await openTraceStore(store);
    const found = await traces.find({ failed: true }, { sort: { order: -1 }, hint: "failed" }).toArray();
    expect(found.map(({ _id }) => _id)).toEqual(["failed"]);
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
});
