import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PageRequest } from "../../../../../services/platform-proxy/lib/pages.js";
import type { Platform } from "../../../../../services/platform-proxy/platform.js";
import { type Search, searchPage } from "../../../../../services/platform-proxy/platforms/aev/search.js";
import type { TenantScope } from "../../../../../services/platform-proxy/platforms/aev/tenant.js";
import { refusal } from "../../../../support/platforms/refusal.js";

// A platform that answers every search with a page that is not the last, and
// remembers which page was asked for.
const asked: number[] = [];
const platform = {
  server: "aev",
  caller: { id: "somebody" },
  rest: async ({ body }: { body: { page: number } }) => {
    asked.push(body.page);
    return { content: [], totalElements: 1_000_000, last: false };
  },
} as unknown as Platform;
const tenant: TenantScope = { id: "t", name: "T", path: (route) => route };
const search: Search = {
  route: "/scenarios/search",
  idKey: "scenario_id",
  sorts: [{ property: "scenario_name", direction: "asc" }],
};
const page = (more: Partial<Search>, request: PageRequest) =>
  searchPage(platform, tenant, { ...search, ...more }, request);

test("a token leads to the page after its own, of the same search only", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 100 }),
      fc.string({ minLength: 1 }).filter((text) => !text.includes("%")),
      async (steps, pageSize, query) => {
        let pageToken = "";
        for (let step = 0; step < steps; step++) {
          pageToken = (await page({ query }, { pageSize, pageToken })).paging.nextPageToken ?? "";
          expect(asked.at(-1)).toBe(step);
        }
        for (const [other, size] of [
          [{ query: `${query}x` }, pageSize],
          [{ query }, pageSize + 1],
          [{ query, route: "/exercises/search" }, pageSize],
        ] as const) {
          expect(await refusal(page(other, { pageSize: size, pageToken }))).toMatchObject({
            code: Code.InvalidArgument,
          });
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("whatever else is given for a token is refused in words", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), async (pageToken) => {
      const error = await refusal(page({}, { pageToken }));
      expect(error.code).toBe(Code.InvalidArgument);
      expect(error.rawMessage).toContain("page_token");
    }),
    { numRuns: 100 },
  );
});
