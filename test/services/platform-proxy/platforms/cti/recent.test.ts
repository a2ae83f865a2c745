import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { make, markingId, relate } from "./asking.js";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti({ settings: { historyDelayMs: 0 } });
});
afterAll(() => harness.close());

const { listRecentChanges } = InsightService.method;

/** All pages of the changes that a question finds. */
async function every(asked: object, as = "analyst") {
  const rows = [];
  let pageToken = "";
  do {
    const page = await harness.call(listRecentChanges, { ...asked, pageSize: 40, pageToken }, as);
    rows.push(...page.changes);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return rows;
}

const edit = (id: string, key: string, value: string) =>
  harness.ask(
    "admin",
    "mutation($id: ID!, $input: [EditInput]!) { stixDomainObjectEdit(id: $id) { fieldPatch(input: $input) { id } } }",
    { id, input: [{ key, value: [value] }] },
  );

describe("recent changes", () => {
  test("are narrowed by type, act, period and field, as all of them looked through would be", async () => {
    const since = timestampFromDate(new Date(Date.now() - 1_000));
    const malware = await make(harness, "Malware", { name: "Changed lately" });
    const tool = await make(harness, "Tool", { name: "Changed as well" });
    await edit(malware, "description", "now described");
    await edit(tool, "description", "described too");
    const relationship = await relate(harness, malware, "uses", tool);
    const all = await every({ since });
    const only = async (asked: object, is: (row: (typeof all)[number]) => boolean) => {
      const meant = all.filter(is);
      expect(meant.length).toBeGreaterThan(0);
      expect(await every({ since, ...asked })).toEqual(meant);
    };
    await only({ types: ["Malware"] }, ({ object }) => object?.type === "Malware");
    await only({ types: ["uses"] }, ({ object }) => object?.id === relationship);
    await only({ acts: ["update"] }, ({ act }) => act === "update");
    const [field = ""] = all.find(({ act }) => act === "update")!.fields;
    await only({ fields: [field.toUpperCase()] }, ({ fields }) => fields.includes(field));
    await only(
      { fields: [field], types: ["Tool"] },
      (row) => row.fields.includes(field) && row.object?.type === "Tool",
    );
    const middle = all[1]!.at!;
    await only({ until: middle }, ({ at }) => timestampDate(at!) <= timestampDate(middle));
    expect((await every({ since, fields: ["no such field"] })).length).toBe(0);
  });

  test("of a field leave out objects that the caller may not see", async () => {
    const since = timestampFromDate(new Date(Date.now() - 1_000));
    const hidden = await make(harness, "Malware", { name: "Hidden since" });
    await edit(hidden, "description", "secret");
    const red = await markingId(harness, "TLP:RED");
    await harness.ask(
      "admin",
      'mutation($id: ID!, $to: StixRef!) { stixCoreObjectEdit(id: $id) { relationAdd(input: { toId: $to, relationship_type: "object-marking" }) { id } } }',
      { id: hidden, to: red },
    );
    const seen = (await every({ since }, "admin")).find(
      ({ act, object }) => act === "update" && object?.id === hidden,
    )!;
    const found = await every({ since, fields: seen.fields }, "analyst");
    expect(found.map(({ object }) => object?.id)).not.toContain(hidden);
  });

  test("of a type that does not exist are refused", async () => {
    const asked = harness.call(listRecentChanges, { types: ["Malwares"] }, "analyst");
    expect(await refusal(asked)).toMatchObject({ code: Code.InvalidArgument });
  });
});

test("rows of relationships have their period", async () => {
  const [from, to] = [
    await make(harness, "Malware", { name: "Used for a time" }),
    await make(harness, "Tool", { name: "Used then" }),
  ];
  const input = { start_time: "2026-01-02T00:00:00.000Z", stop_time: "2026-02-03T00:00:00.000Z" };
  await relate(harness, from, "uses", to, input);
  const listed = await harness.call(RelationshipService.method.listRelationships, { fromId: from }, "analyst");
  const own = await harness.call(RelationshipService.method.listEntityRelationships, { objectId: from }, "analyst");
  for (const row of [listed.relationships[0]!, own.relationships[0]!]) {
    expect(timestampDate(row.startTime!).toISOString()).toBe(input.start_time);
    expect(timestampDate(row.stopTime!).toISOString()).toBe(input.stop_time);
  }
});

test("an address that no observable has is found in the URLs that hold it, and what was not looked at is said", async () => {
  const url = { type: "Url", value: "http://100.64.7.213/payload.bin" };
  await harness.call(ObservableService.method.createObservable, url, "analyst");
  const found = await harness.call(SearchService.method.lookupIoc, { value: "100.64.7[.]213" }, "analyst");
  expect(found.known).toBe(false);
  expect(found.containedIn.map(({ name }) => name)).toEqual(["http://100.64.7.213/payload.bin"]);
  expect(found.notSearched).toMatch(/markings that you may not see/);
  const other = await harness.call(SearchService.method.lookupIoc, { value: "0.64.7.21" }, "analyst");
  expect(other.containedIn).toEqual([]);
});
