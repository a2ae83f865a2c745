import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { SightingService } from "#proto/cti/v1/sighting_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { make, markingId, relate, sight } from "./asking.js";

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
    expect(await every({ since, fields: ["Is family"] })).toEqual([]);
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

  test("name relationships, sightings and references, and what a deletion took away, and nothing that was hidden", async () => {
    const since = timestampFromDate(new Date(Date.now() - 1_000));
    const [kept, gone, hidden] = [
      await make(harness, "Malware", { name: "Kept here" }),
      await make(harness, "Malware", { name: "Gone again" }),
      await make(harness, "Malware", { name: "Hidden by then" }),
    ];
    const place = await make(harness, "City", { name: "Small town" });
    const [shown, half] = [
      await relate(harness, kept, "related-to", place),
      await relate(harness, hidden, "related-to", place),
    ];
    const sighting = await sight(harness, kept, place);
    const reference = { source_name: "Where it stands", url: "https://where.example/it-stands" };
    const { id: referenceId } = (
      await harness.ask<{ made: { id: string } }>(
        "admin",
        "mutation($i: ExternalReferenceAddInput!) { made: externalReferenceAdd(input: $i) { id } }",
        { i: reference },
      )
    ).made;
    for (const id of [shown, half])
      await harness.ask("admin", "mutation($id: ID!) { stixCoreRelationshipEdit(id: $id) { delete } }", { id });
    await harness.ask("admin", "mutation($id: ID!) { stixCoreObjectEdit(id: $id) { delete } }", { id: gone });
    await harness.ask(
      "admin",
      'mutation($id: ID!, $to: StixRef!) { stixCoreObjectEdit(id: $id) { relationAdd(input: { toId: $to, relationship_type: "object-marking" }) { id } } }',
      { id: hidden, to: await markingId(harness, "TLP:RED") },
    );
    const rows = await every({ since });
    const named = (act: string, id: string) =>
      rows.filter((row) => row.act === act && row.object?.id === id).map(({ object }) => object?.name);
    expect(named("create", sighting)).toEqual(["Kept here stix-sighting-relationship Small town"]);
    expect(named("create", referenceId)).toEqual(["Where it stands"]);
    expect(named("delete", gone)).toEqual(["Gone again"]);
    expect([named("create", gone), named("create", hidden)]).toEqual([[], []]);
    expect(named("delete", shown)).toEqual(["Kept here related-to Small town"]);
    expect(named("delete", half)).toEqual(["(not visible to you) related-to Small town"]);
    expect(JSON.stringify(rows.map(({ object }) => object?.name))).not.toContain("Hidden by then");
  });

  test("are asked for by the key of a field and by who made them, and their number grows from page to page", async () => {
    const since = timestampFromDate(new Date());
    const malware = await make(harness, "Malware", { name: "Changed three times" });
    for (const words of ["one", "two", "three"]) await edit(malware, "description", words);
    const asked = { since, types: ["Malware"], fields: ["description"] };
    const rows = await every(asked);
    expect(rows.map(({ fields }) => fields)).toEqual([["Description"], ["Description"], ["Description"]]);
    const totals: number[] = [];
    let pageToken = "";
    do {
      const page = await harness.call(listRecentChanges, { ...asked, pageSize: 1, pageToken }, "analyst");
      totals.push(page.totalSize);
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    expect(totals.slice(0, 3)).toEqual([1, 2, 3]);
    expect(totals.at(-1)).toBe(3);
    const [{ user }] = rows as [(typeof rows)[number]];
    expect(await every({ ...asked, user: user.slice(1).toUpperCase() })).toEqual(rows);
    expect(await every({ ...asked, user: "somebody else" })).toEqual([]);
  });

  test("of a field that no object has, or of a period that ends before it begins, are refused", async () => {
    const none = harness.call(listRecentChanges, { fields: ["no such field"] }, "analyst");
    expect(await refusal(none)).toMatchObject({ code: Code.InvalidArgument, message: /no such field is not a field/ });
    const [since, until] = [timestampFromDate(new Date(2_000)), timestampFromDate(new Date(1_000))];
    const back = harness.call(listRecentChanges, { since, until }, "analyst");
    expect(await refusal(back)).toMatchObject({ code: Code.InvalidArgument });
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

test("values that only look as if they held another are not named, however many they are", async () => {
  const make = (type: string, value: string) =>
    harness.call(ObservableService.method.createObservable, { type, value }, "analyst");
  for (const value of ["http://200.1.2.3.4/a", "https://part.example.other.example/", "https://spart.example/"])
    await make("Url", value);
  await make("Url", "http://1.2.3.4:8080/a");
  await make("Domain-Name", "deep.part.example");
  for (let i = 0; i < 25; i++) await make("Url", `http://1.2.3.4${i}/`);
  const held = async (value: string) => {
    const { containedIn } = await harness.call(SearchService.method.lookupIoc, { value }, "analyst");
    return containedIn.map(({ name }) => name);
  };
  expect(await held("1.2.3.4")).toEqual(["http://1.2.3.4:8080/a"]);
  expect(await held("part.example")).toEqual(["deep.part.example"]);
});

test.each([" ", '""', "<>", "\u00a0"])(
  "a value of which nothing is left (%j) is refused, and the service goes on",
  async (value) => {
    const refused = await refusal(harness.call(SearchService.method.lookupIoc, { value }, "analyst"));
    expect(refused.rawMessage).toBe("value: must not be blank");
  },
);

test("a bound of time finds nothing that has no time", async () => {
  const [from, to] = [
    await make(harness, "Malware", { name: "Without a period" }),
    await make(harness, "City", { name: "Timeless town" }),
  ];
  await relate(harness, from, "related-to", to);
  await sight(harness, from, to);
  const early = await relate(harness, from, "uses", await make(harness, "Tool", { name: "Used long ago" }), {
    start_time: "1969-12-31T23:59:59.999Z",
  });
  const before = timestampFromDate(new Date("2200-01-01"));
  const after = timestampFromDate(new Date("1900-01-01"));
  for (const bounds of [{ startedBefore: before }, { startedAfter: after }]) {
    const asked = { fromId: from, ...bounds };
    const { relationships } = await harness.call(RelationshipService.method.listRelationships, asked, "analyst");
    expect(relationships.map(({ id }) => id)).toEqual([early]);
  }
  const seen = { fromId: from, seenAfter: before };
  expect((await harness.call(SightingService.method.listSightings, seen, "analyst")).sightings).toEqual([]);
});

test("times that the platform breaks down on are refused before anything is written", async () => {
  const [from, to] = [
    await make(harness, "Malware", { name: "Used for ever" }),
    await make(harness, "Tool", { name: "Kept for ever" }),
  ];
  const late = timestampFromDate(new Date("9999-12-31T23:59:59Z"));
  const relation = { fromId: from, toId: to, relationshipType: "uses", stopTime: late };
  const refused = [
    () => harness.call(RelationshipService.method.createRelationship, relation, "analyst"),
    () => harness.call(SightingService.method.createSighting, { fromId: from, toId: to, lastSeen: late }, "analyst"),
  ];
  for (const one of refused) expect(await refusal(one())).toMatchObject({ code: Code.InvalidArgument });
});
