import { afterAll, beforeAll, expect, test } from "vitest";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { make, markingId, relate } from "./asking.js";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("a ranking leaves hidden objects out, and gives their places to visible ones", async () => {
  const objectMarking = [await markingId(harness, "TLP:RED")];
  const set = await make(harness, "Intrusion-Set", { name: "Ranked set" });
  const hidden: string[] = [];
  for (let i = 0; i < 3; i++) {
    const id = await make(harness, "Malware", { name: `Hidden malware ${i}`, objectMarking });
    await relate(harness, set, "uses", id, { start_time: "2026-01-01T00:00:00.000Z" });
    await relate(harness, set, "uses", id, { start_time: "2026-06-01T00:00:00.000Z" });
    hidden.push(id);
  }
  const shown = await make(harness, "Malware", { name: "Shown malware" });
  await relate(harness, set, "uses", shown);
  const ask = (as: string) =>
    harness.call(InsightService.method.getTopRelatedEntities, { objectId: set, limit: 1 }, as);

  // The platform itself tells the id and type of what it hides.
  const buckets =
    'query($id: [String]) { stixCoreRelationshipsDistribution(fromOrToId: $id, isTo: true, field: "internal_id", operation: count, limit: 9) { entity { ... on StixCoreObject { id representative { main } } } } }';
  const { stixCoreRelationshipsDistribution: told } = await harness.ask<{
    stixCoreRelationshipsDistribution: { entity: { id: string; representative: { main: string } } }[];
  }>("analyst", buckets, { id: [set] });
  expect(told.map(({ entity }) => entity.representative.main)).toContain("Restricted");
  expect(told.map(({ entity }) => entity.id)).toContain(hidden[0]);

  expect((await ask("analyst")).related).toMatchObject([{ id: shown, name: "Shown malware", count: 1 }]);
  expect((await ask("admin")).related).toMatchObject([{ id: hidden[0], name: "Hidden malware 0", count: 2 }]);
});
