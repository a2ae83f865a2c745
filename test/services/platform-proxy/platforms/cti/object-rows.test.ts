import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EntityListService } from "#proto/cti/v1/entity_list_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CoreNode, summaryOf } from "../../../../../services/platform-proxy/platforms/cti/knowledge.js";
import { beginningOf, objectRowOf } from "../../../../../services/platform-proxy/platforms/cti/object-rows.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { make } from "./asking.js";

const { listCampaigns, listMalware, listAttackPatterns } = EntityListService.method;

describe("the beginning of a description", () => {
  test.each([
    [
      "[APT28](https://attack.mitre.org/groups/G0007) is a threat group.(Citation: NSA Drovorub) It is old.",
      "APT28 is a threat group. It is old.",
    ],
    ["\nTwo\n\nlines,\tone  row", "Two lines, one row"],
    ["<code>sc.exe</code> runs it", "sc.exe runs it"],
    ["an array[0] (of one) and [a name] (apart)", "an array[0] (of one) and [a name] (apart)"],
    ["", ""],
  ])("%j is shown as %j", (description, shown) => {
    expect(beginningOf(description, 80)).toBe(shown);
  });

  test("is never longer than asked for, and is a plain text's own beginning", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.integer({ min: 10, max: 200 }), (text, most) => {
        expect(beginningOf(text, most).length).toBeLessThanOrEqual(most);
      }),
    );
    expect(beginningOf("x".repeat(100), 60)).toBe(`${"x".repeat(59)}…`);
  });

  test.each(["[", "[a](", "(Citation: ", "<code>", " \n"])(
    "100,000 times %j is read no further than needed",
    (part) => {
      const begun = performance.now();
      beginningOf(part.repeat(100_000), 80);
      expect(performance.now() - begun).toBeLessThan(1_000);
    },
  );
});

describe("a row of an object", () => {
  let harness: CtiHarness;
  beforeAll(async () => {
    harness = await startCti();
  });
  afterAll(() => harness.close());

  const WHOLE = `[Row](https://example.com/row) ${"is described at length ".repeat(10)}`.trim();
  const shown = `Row ${"is described at length ".repeat(10)}`;

  test("has the beginning of its description; get_entity has it whole", async () => {
    const id = await make(harness, "Malware", { name: "Row of a malware", description: WHOLE });
    const begins = `${shown.slice(0, 79)}…`;
    const query = '"Row of a malware"';
    const { malware } = await harness.call(listMalware, { query });
    expect(malware).toMatchObject([{ id, description: begins }]);
    expect(malware[0]!.createdAt).toBeDefined();
    const { entities } = await harness.call(SearchService.method.searchEntities, { query, types: ["Malware"] });
    expect(entities).toMatchObject([{ id, description: begins }]);
    const { object } = await harness.call(EntityService.method.getEntity, { objectId: id });
    expect(object!.description).toBe(WHOLE);
  });

  test("of a technique has less of the text and no time; get_entity has both", async () => {
    const id = await make(harness, "Attack-Pattern", { name: "Row of a technique", description: WHOLE });
    const { attackPatterns } = await harness.call(listAttackPatterns, { query: '"Row of a technique"' });
    expect(attackPatterns).toMatchObject([{ id, description: `${shown.slice(0, 59)}…` }]);
    expect(attackPatterns[0]!.createdAt).toBeUndefined();
    const { object } = await harness.call(EntityService.method.getEntity, { objectId: id });
    expect(object!.description).toBe(WHOLE);
    expect(object!.createdAt).toBeDefined();
  });

  test("of what has a period has that in place of its time", async () => {
    const first_seen = "2026-01-01T00:00:00.000Z";
    await make(harness, "Campaign", { name: "Row of a campaign, seen", first_seen });
    await make(harness, "Campaign", { name: "Row of a campaign, never seen" });
    const { campaigns } = await harness.call(listCampaigns, { query: '"Row of a campaign"', order: Order.NAME });
    const times = campaigns.map(({ firstSeen, createdAt }) => [firstSeen !== undefined, createdAt !== undefined]);
    expect(times).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  test("has no marking as long as a notice; a single object has it", () => {
    const notice = "Copyright 2015-2025, The MITRE Corporation. MITRE ATT&CK is a registered trademark.";
    const objectMarking = [{ definition: "TLP:AMBER+STRICT" }, { definition: notice }];
    const node = { representative: { main: "Name", secondary: "" }, objectMarking, objectLabel: [], createdBy: null };
    expect(objectRowOf(node as unknown as CoreNode).markings).toEqual(["TLP:AMBER+STRICT"]);
    expect(summaryOf(node as unknown as CoreNode).markings).toEqual(["TLP:AMBER+STRICT", notice]);
  });
});
