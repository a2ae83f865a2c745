import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { Order } from "#proto/cti/v1/knowledge_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { entities, observables } from "./asking.js";

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("a type that the platform would ignore is refused with the spelling that was meant", async () => {
  const { searchEntities } = SearchService.method;
  const misspelt = await refusal(harness.call(searchEntities, { types: ["intrusionset"] }));
  expect(misspelt.code).toBe(Code.InvalidArgument);
  expect(misspelt.rawMessage).toContain("did you mean Intrusion-Set?");
  const observable = await refusal(harness.call(searchEntities, { types: ["IPv4-Addr"] }));
  expect(observable.code).toBe(Code.InvalidArgument);
  const unknown = await refusal(harness.call(InsightService.method.countEntities, { types: ["Nope"] }));
  expect(unknown.rawMessage).toContain("list_entity_types");
});

test("a value in a search is kept together, so that its parts match nothing else", async () => {
  const { searchAll } = SearchService.method;
  const [domain] = await observables(harness, "Domain-Name", 1);
  const found = await harness.call(searchAll, { query: domain!.value, pageSize: 100 });
  expect(found.totalSize).toBeGreaterThan(0);
  for (const object of found.objects) expect(`${object.name} ${object.description}`).toContain(domain!.value);
  const defanged = await harness.call(searchAll, { query: domain!.value.replaceAll(".", "[.]") });
  expect(defanged.totalSize).toBe(found.totalSize);
});

test("pages follow each other without a gap or a repeat, and the last has no token", async () => {
  const { searchEntities } = SearchService.method;
  const all = await harness.call(searchEntities, { types: ["Intrusion-Set"], pageSize: 100, order: Order.NAME });
  const ids: string[] = [];
  let pageToken = "";
  do {
    const page = await harness.call(searchEntities, {
      types: ["Intrusion-Set"],
      pageSize: 7,
      order: Order.NAME,
      pageToken,
    });
    expect(page.totalSize).toBe(all.totalSize);
    ids.push(...page.entities.map(({ id }) => id));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(ids).toEqual(all.entities.map(({ id }) => id));
  expect(all.nextPageToken).toBeUndefined();
});

test("a full last page is not followed by an empty one", async () => {
  const { searchEntities } = SearchService.method;
  const { totalSize } = await harness.call(searchEntities, { types: ["Sector"] });
  const page = await harness.call(searchEntities, { types: ["Sector"], pageSize: totalSize });
  expect(page.entities).toHaveLength(totalSize);
  expect(page.nextPageToken).toBeUndefined();
});

test("a page token of another query is refused", async () => {
  const { searchEntities } = SearchService.method;
  const { nextPageToken = "" } = await harness.call(searchEntities, { types: ["Malware"], pageSize: 5 });
  const other = await refusal(harness.call(searchEntities, { types: ["Tool"], pageSize: 5, pageToken: nextPageToken }));
  expect(other.code).toBe(Code.InvalidArgument);
  expect(other.rawMessage).toContain("does not belong to this query");
  const made = await refusal(harness.call(searchEntities, { types: ["Tool"], pageToken: "bm9uc2Vuc2U" }));
  expect(made.code).toBe(Code.InvalidArgument);
  const more = await harness.call(searchEntities, { types: ["Malware"], pageSize: 9, pageToken: nextPageToken });
  expect(more.entities).toHaveLength(9);
});

test("filters by marking, label and author name are resolved before the platform sees them", async () => {
  const { searchEntities } = SearchService.method;
  const green = await harness.call(searchEntities, {
    types: ["Malware"],
    filter: { markings: ["tlp:green"] },
    pageSize: 100,
  });
  expect(green.totalSize).toBeGreaterThan(0);
  for (const { markings } of green.entities) expect(markings).toContain("TLP:GREEN");
  const labelled = await harness.call(searchEntities, { types: ["Malware"], filter: { labels: ["PHISHING"] } });
  for (const { labels } of labelled.entities) expect(labels).toContain("phishing");
  expect(labelled.totalSize).toBeGreaterThan(0);
  const [author] = await entities(harness, "Organization");
  const written = await harness.call(searchEntities, { types: ["Malware"], filter: { author: author!.name } });
  expect(written.totalSize).toBeGreaterThan(0);
  for (const { id } of written.entities) {
    const { object } = await harness.call(EntityService.method.getEntity, { objectId: id });
    expect(object?.author?.name).toBe(author!.name);
  }
});

test("a name in a filter that leads nowhere is an error, not an empty list", async () => {
  const { searchEntities } = SearchService.method;
  const ask = (filter: object) => refusal(harness.call(searchEntities, { types: ["Malware"], filter }));
  expect((await ask({ labels: ["no-such-label"] })).code).toBe(Code.NotFound);
  expect((await ask({ author: "No such author" })).code).toBe(Code.NotFound);
  expect((await ask({ markings: ["TLP:RED"] })).code).toBe(Code.PermissionDenied);
});

test("an address, domain or hash is looked up exactly, defanged or not, with what is built on it", async () => {
  const { lookupIoc } = SearchService.method;
  const [domain] = await observables(harness, "Domain-Name", 1);
  const found = await harness.call(lookupIoc, { value: domain!.value.replaceAll(".", "[.]").toUpperCase() });
  expect(found.known).toBe(true);
  expect(found.matches.map(({ value }) => value)).toEqual([domain!.value]);
  const [file] = await observables(harness, "StixFile", 1);
  for (const { hash } of file!.hashes ?? []) {
    const match = await harness.call(lookupIoc, { value: ` ${hash.toUpperCase()} ` });
    expect(match.matches.map(({ id }) => id)).toEqual([file!.id]);
  }
  const unknown = await harness.call(lookupIoc, { value: "192.0.2.77" });
  expect(unknown).toMatchObject({ known: false, matches: [], value: "192.0.2.77" });
});

test("an indicator built on an observable is found with it", async () => {
  const { indicators } = await harness.call(SearchService.method.listIndicators, {
    validOnly: true,
    pageSize: 5,
    patternType: "stix",
  });
  expect(indicators.length).toBe(5);
  for (const { validUntil, revoked } of indicators) {
    expect(Number(validUntil?.seconds) * 1000).toBeGreaterThan(Date.now());
    expect(revoked).toBe(false);
  }
  const looked = await harness.call(SearchService.method.lookupIoc, { value: indicators[0]!.name });
  expect(looked.matches.flatMap((match) => match.indicators.map(({ id }) => id))).toContain(indicators[0]!.id);
});

test("observables are searched by score and type", async () => {
  const { observables: rows } = await harness.call(SearchService.method.listObservables, {
    types: ["Url"],
    minScore: 80,
    order: Order.NEWEST,
  });
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) {
    expect(row.type).toBe("Url");
    expect(row.score).toBeGreaterThanOrEqual(80);
  }
});

test("a name or alias resolves exactly in any case, else to the closest", async () => {
  const { findEntityByName } = SearchService.method;
  const [set] = await entities(harness, "Intrusion-Set");
  const exact = await harness.call(findEntityByName, { name: set!.name.toUpperCase(), types: ["Intrusion-Set"] });
  expect(exact.exact).toBe(true);
  expect(exact.entities.map(({ id }) => id)).toEqual([set!.id]);
  const technique = await harness.call(findEntityByName, { name: "T1566" });
  expect(technique.entities[0]?.name).toBe("[T1566] Phishing");
  const close = await harness.call(findEntityByName, { name: set!.name.slice(0, 4) });
  expect(close.exact).toBe(false);
});
