import { create, fromJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ListControlsRequestSchema } from "#proto/grc/v1/control_service_pb.js";
import type { RestRequest } from "../../../../../services/platform-proxy/adapter.js";
import { pagingOf } from "../../../../../services/platform-proxy/lib/pages.js";
import type { Platform } from "../../../../../services/platform-proxy/platform.js";
import {
  pageOf,
  readAllTenantPages,
  readConcatenated,
  readTenantPage,
  readTenantPages,
} from "../../../../../services/platform-proxy/platforms/grc/lists.js";
import type { Tenant } from "../../../../../services/platform-proxy/platforms/grc/tenancy.js";

const domain = (id: string) => [id, { id, name: id, description: null, parentId: undefined }] as const;
const TENANT: Tenant = { id: "own", name: "Own", description: null, domains: new Map([domain("own"), domain("sub")]) };

/** A platform that answers lists of one part each, and knows no filter but `part`. */
function platformOf(parts: Readonly<Record<string, readonly string[]>>, folder = "own"): Platform {
  return {
    server: "grc",
    async rest({ query }: RestRequest) {
      const all = parts[String(query?.part)] ?? Object.values(parts).flat();
      const offset = Number(query?.offset);
      const results = all
        .slice(offset, offset + Number(query?.limit))
        .map((name) => ({ id: name, folder: { id: folder } }));
      return { count: all.length, results };
    },
  } as unknown as Platform;
}

test("pages of several lists put together are the pages of one list", async () => {
  const lists = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(lists, fc.integer({ min: 1, max: 10 }), fc.nat({ max: 60 }), async (sizes, limit, offset) => {
      const parts = Object.fromEntries(
        sizes.map((size, p) => [`p${p}`, Array.from({ length: size }, (_, i) => `${p}.${i}`)]),
      );
      const together = { name: "part", values: Object.keys(parts) };
      const page = { size: limit, offset };
      const { totalSize, rows } = await readConcatenated(platformOf(parts), "/api/x/", {}, together, page, TENANT);
      const all = Object.values(parts).flat();
      expect(totalSize).toBe(all.length);
      expect(rows.map((row) => (row as unknown as { id: string }).id)).toEqual(all.slice(offset, offset + limit));
    }),
  );
});

test("a tenant with more domains than a request line holds is listed in parts, as one list", async () => {
  const ids = Array.from({ length: 120 }, (_, i) => `d${i}`);
  const tenant: Tenant = { ...TENANT, domains: new Map(ids.map(domain)) };
  const asked: number[] = [];
  const platform = {
    server: "grc",
    async rest({ query }: RestRequest) {
      const folders = query?.folder as readonly string[];
      asked.push(folders.length);
      const offset = Number(query?.offset);
      const rows = folders.map((id) => ({ id, folder: { id } }));
      return { count: rows.length, results: rows.slice(offset, offset + Number(query?.limit)) };
    },
  } as unknown as Platform;
  const seen: (string | undefined)[] = [];
  for (let offset = 0; offset < 120; offset += 45) {
    const page = { size: 45, offset };
    const { totalSize, rows } = await readTenantPages(platform, "/api/x/", {}, ids, page, tenant);
    expect(totalSize).toBe(120);
    seen.push(...rows.map(({ folder }) => folder.id));
  }
  expect(seen).toEqual(ids);
  expect(Math.max(...asked)).toBe(50);
});

test("everything is read page after page, or refused where it is too much, and never in part", async () => {
  const names = Array.from({ length: 2_001 }, (_, i) => `n${i}`);
  const read = (count: number) =>
    readAllTenantPages(platformOf({ p: names.slice(0, count) }), "/api/x/", { part: "p" }, TENANT);
  for (const count of [0, 1, 250, 251, 2_000]) {
    expect((await read(count)).map((row) => (row as unknown as { id: string }).id)).toEqual(names.slice(0, count));
  }
  await expect(read(2_001)).rejects.toMatchObject({ code: Code.ResourceExhausted });
});

test("rows of another tenant are withheld: a filter that did not narrow the list lets nothing through", async () => {
  const page = { size: 10, offset: 0 };
  const stranger = readTenantPage(platformOf({ p: ["a"] }, "other"), "/api/x/", { folder: ["own"] }, page, TENANT);
  await expect(stranger).rejects.toMatchObject({
    code: Code.Unavailable,
    rawMessage: expect.stringContaining("withheld"),
  });
  await expect(readTenantPage(platformOf({ p: ["a"] }, "sub"), "/api/x/", {}, page, TENANT)).resolves.toMatchObject({
    totalSize: 1,
  });
});

test("a token leads to the next page of the same question, whatever the page's size", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 500 }),
      (a, b, total) => {
        const first = pageOf(create(ListControlsRequestSchema, { pageSize: a, query: "x" }), "t");
        const { nextPageToken } = pagingOf(first, { totalSize: total });
        expect(nextPageToken === undefined).toBe(a >= total);
        if (nextPageToken === undefined) return;
        const again = { pageSize: b, pageToken: nextPageToken, query: "x" };
        expect(pageOf(create(ListControlsRequestSchema, again), "t")).toMatchObject({ offset: a, size: b });
        const other = create(ListControlsRequestSchema, { ...again, query: "y" });
        expect(() => pageOf(other, "t")).toThrow("does not belong to this query");
        expect(() => pageOf(create(ListControlsRequestSchema, again), "other")).toThrow(
          "does not belong to this query",
        );
      },
    ),
  );
});

test("a token stays good when the client names the tenant or sends its arguments in another order", () => {
  const first = pageOf(fromJson(ListControlsRequestSchema, { query: "x", priority: 1 }), "t");
  const pageToken = pagingOf(first, { totalSize: 100 }).nextPageToken!;
  const again = fromJson(ListControlsRequestSchema, {
    page_token: pageToken,
    priority: 1,
    tenant_id: "t",
    query: "x",
  });
  expect(pageOf(again, "t").offset).toBe(25);
});

test("any text is either a token of the question or refused", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 200 }), (pageToken) => {
      expect(() => pageOf(create(ListControlsRequestSchema, { pageToken }), "t")).toThrow("page_token");
    }),
  );
});

test("lists far behind the page are not counted, and the total then says that it is a lower bound", async () => {
  const parts = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, [`${i}`]]));
  const together = { name: "part", values: Object.keys(parts) };
  const read = (size: number, offset: number) =>
    readConcatenated(platformOf(parts), "/api/x/", {}, together, { size, offset }, TENANT);
  expect(await read(20, 0)).toMatchObject({ totalSize: 60, isLowerBound: true });
  const last = await read(20, 60);
  expect(last.rows).toHaveLength(20);
  expect(last.totalSize).toBe(100);
  expect(last).not.toHaveProperty("isLowerBound");
});
