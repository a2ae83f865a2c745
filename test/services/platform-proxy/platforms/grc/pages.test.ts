import { create, fromJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ListControlsRequestSchema } from "#proto/grc/v1/control_service_pb.js";
import type { RestRequest } from "../../../../../services/platform-proxy/adapter.js";
import type { Platform } from "../../../../../services/platform-proxy/platform.js";
import {
  pageOf,
  pagingOf,
  readAllTenantPages,
  readConcatenated,
  readTenantPage,
  readTenantPages,
} from "../../../../../services/platform-proxy/platforms/grc/pages.js";
import type { Tenant } from "../../../../../services/platform-proxy/platforms/grc/tenancy.js";

const domain = (id: string) => [id, { id, name: id, description: null, parentId: undefined }] as const;
const TENANT: Tenant = { id: "own", name: "Own", description: null, domains: new Map([domain("own"), domain("sub")]) };

/** A platform that answers lists of one part each, and knows no filter but `part`. */
function platformOf(parts: Readonly<Record<string, readonly string[]>>, folder = "own"): Platform {
  return {
    async rest({ query }: RestRequest) {
      const all = parts[String(query?.part)] ?? Object.values(parts).flat();
      const offset = Number(query?.offset);
      const results = all
        .slice(offset, offset + Number(query?.limit))
        .map((name) => ({ name, folder: { id: folder } }));
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
      const page = { limit, offset, digest: "" };
      const { count, results } = await readConcatenated(platformOf(parts), "/api/x/", {}, together, page, TENANT);
      const all = Object.values(parts).flat();
      expect(count).toBe(all.length);
      expect(results.map((row) => (row as unknown as { name: string }).name)).toEqual(
        all.slice(offset, offset + limit),
      );
    }),
  );
});

test("a tenant with more domains than a request line holds is listed in parts, as one list", async () => {
  const ids = Array.from({ length: 120 }, (_, i) => `d${i}`);
  const tenant: Tenant = { ...TENANT, domains: new Map(ids.map(domain)) };
  const asked: number[] = [];
  const platform = {
    async rest({ query }: RestRequest) {
      const folders = query?.folder as readonly string[];
      asked.push(folders.length);
      const offset = Number(query?.offset);
      const rows = folders.map((id) => ({ folder: { id } }));
      return { count: rows.length, results: rows.slice(offset, offset + Number(query?.limit)) };
    },
  } as unknown as Platform;
  const seen: (string | undefined)[] = [];
  for (let offset = 0; offset < 120; offset += 45) {
    const page = { limit: 45, offset, digest: "" };
    const { count, results } = await readTenantPages(platform, "/api/x/", {}, ids, page, tenant);
    expect(count).toBe(120);
    seen.push(...results.map(({ folder }) => folder.id));
  }
  expect(seen).toEqual(ids);
  expect(Math.max(...asked)).toBe(50);
});

test("everything is read page after page, or refused where it is too much, and never in part", async () => {
  const names = Array.from({ length: 2_001 }, (_, i) => `n${i}`);
  const read = (count: number) =>
    readAllTenantPages(platformOf({ p: names.slice(0, count) }), "/api/x/", { part: "p" }, TENANT);
  for (const count of [0, 1, 250, 251, 2_000]) {
    expect((await read(count)).map((row) => (row as unknown as { name: string }).name)).toEqual(names.slice(0, count));
  }
  await expect(read(2_001)).rejects.toMatchObject({ code: Code.ResourceExhausted });
});

test("rows of another tenant are withheld: a filter that did not narrow the list lets nothing through", async () => {
  const page = { limit: 10, offset: 0, digest: "" };
  const stranger = readTenantPage(platformOf({ p: ["a"] }, "other"), "/api/x/", { folder: ["own"] }, page, TENANT);
  await expect(stranger).rejects.toMatchObject({
    code: Code.Internal,
    rawMessage: expect.stringContaining("withheld"),
  });
  await expect(readTenantPage(platformOf({ p: ["a"] }, "sub"), "/api/x/", {}, page, TENANT)).resolves.toMatchObject({
    count: 1,
  });
});

test("a token leads to the next page of the same question, whatever the page's size", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 500 }),
      (a, b, total) => {
        const first = pageOf(create(ListControlsRequestSchema, { pageSize: a, search: "x" }), "t");
        const { nextPageToken } = pagingOf(first, total);
        expect(nextPageToken === undefined).toBe(a >= total);
        if (nextPageToken === undefined) return;
        const again = { pageSize: b, pageToken: nextPageToken, search: "x" };
        expect(pageOf(create(ListControlsRequestSchema, again), "t")).toMatchObject({ offset: a, limit: b });
        const other = create(ListControlsRequestSchema, { ...again, search: "y" });
        expect(() => pageOf(other, "t")).toThrow("does not belong to this query");
        expect(() => pageOf(create(ListControlsRequestSchema, again), "other")).toThrow(
          "does not belong to this query",
        );
      },
    ),
  );
});

test("a token stays good when the client names the tenant or sends its arguments in another order", () => {
  const first = pageOf(fromJson(ListControlsRequestSchema, { search: "x", priority: 1 }), "t");
  const pageToken = pagingOf(first, 100).nextPageToken!;
  const again = fromJson(ListControlsRequestSchema, {
    page_token: pageToken,
    priority: 1,
    tenant_id: "t",
    search: "x",
  });
  expect(pageOf(again, "t").offset).toBe(25);
});

test("any text is either a token of the question or refused", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (pageToken) => {
      expect(() => pageOf(create(ListControlsRequestSchema, { pageToken }), "t")).toThrow("page_token");
    }),
  );
});
