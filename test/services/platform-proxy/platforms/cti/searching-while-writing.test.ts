import { afterAll, beforeAll, expect, test } from "vitest";
import { ContainerService } from "#proto/cti/v1/container_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { InsightService } from "#proto/cti/v1/insight_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { make, markingId } from "./asking.js";

let harness: CtiHarness;
let ids: string[];
beforeAll(async () => {
  harness = await startCti();
  ids = [];
  for (let i = 0; i < 9; i++) ids.push(await make(harness, "Malware", { name: `Ticking ${i}` }));
});
afterAll(() => harness.close());

interface Page {
  readonly rows: readonly { readonly id: string }[];
  readonly totalSize: number;
  readonly nextPageToken?: string | undefined;
}

/** Reads all pages, with something else written between them. */
async function everyPage(read: (pageToken: string) => Promise<Page>, between?: (page: number) => Promise<unknown>) {
  const rows: string[] = [];
  const totals = new Set<number>();
  let token = "";
  for (let page = 0; ; page++) {
    const { rows: more, totalSize, nextPageToken } = await read(token);
    rows.push(...more.map(({ id }) => id));
    totals.add(totalSize);
    if (nextPageToken === undefined) return { rows, totals: [...totals] };
    token = nextPageToken;
    await between?.(page);
  }
}

test("a search by words gives every row once while others write, best matches first", async () => {
  const read = async (pageToken: string): Promise<Page> => {
    const { objects, ...paging } = await harness.call(SearchService.method.searchAll, {
      query: "ticking 3",
      types: ["Malware"],
      pageSize: 2,
      pageToken,
    });
    return { rows: objects, ...paging };
  };
  const before = await everyPage(read);
  expect(before.rows[0]).toBe(ids[3]);
  expect(before.totals).toEqual([before.rows.length]);
  const { rows } = await everyPage(read, (page) =>
    page > 3 ? Promise.resolve() : make(harness, "Malware", { name: `Ticking again ${page}` }),
  );
  expect(new Set(rows).size).toBe(rows.length);
  expect(before.rows.filter((id) => !rows.includes(id))).toEqual([]);
});

test("the platform's own pages by relevance repeat or skip, which the built-in one shows too", async () => {
  const document =
    'query($a: ID) { globalSearch(search: "ticking", first: 3, after: $a) { edges { node { id } } pageInfo { endCursor } } }';
  interface Answer {
    globalSearch: { edges: { node: { id: string } }[]; pageInfo: { endCursor: string } };
  }
  const { globalSearch: first } = await harness.ask<Answer>("analyst", document, { a: null });
  await make(harness, "Malware", { name: "Ticking between" });
  const { globalSearch: next } = await harness.ask<Answer>("analyst", document, { a: first.pageInfo.endCursor });
  const shown = first.edges.map(({ node }) => node.id);
  expect(next.edges.some(({ node }) => shown.includes(node.id))).toBe(true);
});

test("what a container holds is told whole and counted, whatever holds the container itself", async () => {
  const objectMarking = [await markingId(harness, "TLP:RED")];
  const hidden = await make(harness, "Malware", { name: "Hidden in the report", objectMarking });
  const report = await make(harness, "Report", {
    name: "Held and holding",
    published: "2026-03-03T00:00:00.000Z",
    objects: [...ids, hidden],
  });
  // Newer than what the report holds, so that they come first, in pages that are empty then.
  for (let i = 0; i < 9; i++) await make(harness, "Note", { content: `About it ${i}`, objects: [report] });
  const { listContainerObjects, getReport } = ContainerService.method;
  const { rows, totals } = await everyPage(async (pageToken) => {
    const request = { containerId: report, pageSize: 2, pageToken };
    const { objects, ...paging } = await harness.call(listContainerObjects, request);
    return { rows: objects, ...paging };
  });
  expect([...rows].sort()).toEqual([...ids].sort());
  expect(totals).toEqual([ids.length]);
  expect(await harness.call(getReport, { reportId: report })).toMatchObject({ objectCount: ids.length });
  expect(await harness.call(getReport, { reportId: report }, "admin")).toMatchObject({ objectCount: ids.length + 1 });
  const { containers, connections } = await harness.call(EntityService.method.getEntity, { objectId: report });
  expect({ containers, connections }).toEqual({ containers: 9, connections: 0 });
});

test("a list without words is newest first", async () => {
  const { entities } = await harness.call(SearchService.method.searchEntities, { types: ["Note"], pageSize: 50 });
  const times = entities.map(({ createdAt }) => Number(createdAt?.seconds));
  expect(times).toEqual([...times].sort((a, b) => b - a));
  const { count } = await harness.call(InsightService.method.countEntities, { types: ["Note"] });
  expect(count).toBeGreaterThanOrEqual(9);
});
