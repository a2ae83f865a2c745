import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PageRequest } from "../../../../../services/platform-proxy/lib/pages.js";
import type { Platform } from "../../../../../services/platform-proxy/platform.js";
import { type List, listPage } from "../../../../../services/platform-proxy/platforms/aev/list.js";
import type { TenantScope } from "../../../../../services/platform-proxy/platforms/aev/tenant.js";
import { refusal } from "../../../../support/platforms/refusal.js";

interface Row {
  readonly id: string;
  readonly key: string;
}

/** A platform that sorts by the key alone: rows of one key come in another order each time. */
function platformOf(rows: readonly Row[]): Platform {
  return {
    server: "aev",
    caller: { id: "somebody" },
    rest: async ({ body: { page, size } }: { body: { page: number; size: number } }) => {
      const sorted = rows
        .map((row) => ({ row, place: Math.random() }))
        .sort((a, b) => (a.row.key < b.row.key ? 1 : a.row.key > b.row.key ? -1 : a.place - b.place))
        .map(({ row }) => row);
      return { content: sorted.slice(page * size, (page + 1) * size), totalElements: rows.length };
    },
  } as unknown as Platform;
}

const tenant: TenantScope = { id: "t", name: "T", path: (route) => route };
const list: List<Row> = {
  route: "/rows/search",
  idKey: "id",
  order: { sorts: [{ property: "key", direction: "desc" }], keyOf: (row) => row.key },
  piece: 60,
};
const rowsOf = (count: number, keys: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({ id: `row-${i}`, key: `${(i * 7919) % keys}` }));

test("pages of any size hold every row once, newest first, whatever its neighbours share with it", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 60, max: 400 }),
      fc.integer({ min: 3, max: 100 }),
      async (count, keys, pageSize) => {
        const all = rowsOf(count, keys);
        const platform = platformOf(all);
        const read: Row[] = [];
        for (let pageToken: string | undefined = ""; pageToken !== undefined && read.length <= count; ) {
          const page: Awaited<ReturnType<typeof listPage<Row>>> = await listPage(platform, tenant, list, {
            pageSize,
            pageToken,
          });
          expect(page.paging.totalSize).toBe(count);
          read.push(...page.rows);
          pageToken = page.paging.nextPageToken;
        }
        const wanted = [...all].sort((a, b) => (a.key === b.key ? (a.id < b.id ? -1 : 1) : a.key < b.key ? 1 : -1));
        expect(read).toEqual(wanted);
      },
    ),
    { numRuns: 60 },
  );
});

test("a name that is cut within a character of two halves is gone on from", async () => {
  const all = Array.from({ length: 9 }, (_, i) => ({ id: `row-${i}`, key: `${"x".repeat(59)}\u{1f512}${i}` }));
  const read: Row[] = [];
  for (let pageToken: string | undefined = ""; pageToken !== undefined && read.length <= all.length; ) {
    const page: Awaited<ReturnType<typeof listPage<Row>>> = await listPage(platformOf(all), tenant, list, {
      pageSize: 2,
      pageToken,
    });
    read.push(...page.rows);
    pageToken = page.paging.nextPageToken;
  }
  expect(read.map(({ id }) => id)).toEqual(all.map(({ id }) => id).reverse());
});

test("a first page reads no more of a long list than it must", async () => {
  const sizes: number[] = [];
  const platform = platformOf(rowsOf(5_000, 5_000));
  const counted = {
    ...platform,
    rest: (request: { body: { size: number } }) => {
      sizes.push(request.body.size);
      return platform.rest(request as never);
    },
  } as unknown as Platform;
  await listPage(counted, tenant, { ...list, piece: 500 }, { pageSize: 20, pageToken: "" });
  expect(sizes).toEqual([50]);
});

test("a token is good for its own query only", async () => {
  const platform = platformOf(rowsOf(50, 50));
  const page = (more: Partial<List<Row>>, request: PageRequest) =>
    listPage(platform, tenant, { ...list, ...more }, request);
  const { paging } = await page({}, { pageSize: 10, pageToken: "" });
  for (const other of [{ query: "x" }, { route: "/others/search" }, { having: [{ of: () => "a", values: ["a"] }] }]) {
    expect(await refusal(page(other, { pageToken: paging.nextPageToken ?? "" }))).toMatchObject({
      code: Code.InvalidArgument,
    });
  }
});

test("whatever else is given for a token is refused in words", async () => {
  const platform = platformOf([]);
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), async (pageToken) => {
      const error = await refusal(listPage(platform, tenant, list, { pageToken }));
      expect(error.code).toBe(Code.InvalidArgument);
      expect(error.rawMessage).toContain("page_token");
    }),
    { numRuns: 100 },
  );
});
