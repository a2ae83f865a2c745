import { create, fromJson } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ListControlsRequestSchema } from "#proto/grc/v1/control_service_pb.js";
import type { RestRequest } from "../../../../../services/platform-proxy/adapter.js";
import { type Place, pagingOf } from "../../../../../services/platform-proxy/lib/pages.js";
import type { Platform } from "../../../../../services/platform-proxy/platform.js";
import { readByRank } from "../../../../../services/platform-proxy/platforms/grc/by-rank.js";
import {
  type Direction,
  pageByTime,
  readByTime,
} from "../../../../../services/platform-proxy/platforms/grc/by-time.js";
import {
  pageOf,
  queriesOf,
  type Rows,
  readAll,
  readTenantPage,
} from "../../../../../services/platform-proxy/platforms/grc/lists.js";
import type { Tenant } from "../../../../../services/platform-proxy/platforms/grc/tenancy.js";

const domain = (id: string) =>
  [id, { id, name: id, description: null, parentId: undefined, isEnclave: false }] as const;
const TENANT: Tenant = {
  id: "own",
  name: "Own",
  description: null,
  domains: new Map([domain("own"), domain("sub")]),
  isFresh: true,
};

interface Kept {
  readonly id: string;
  readonly created_at: string;
  readonly part: string;
  readonly name: string;
  readonly folder: { readonly id: string };
}

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
/** Few moments for many rows, with and without a fraction, as the platform writes them. */
const moment = (n: number) =>
  `2026-11-21T12:17:${String(40 + (n % 7)).padStart(2, "0")}${n % 2 === 0 ? "Z" : ".500001Z"}`;
const whole = (time: string) => (time.includes(".") ? time : time.replace("Z", ".000000Z"));

/** A platform that keeps rows, filters by part and time, and orders as it is asked to. */
function platformOf(rows: Kept[]): Platform {
  return {
    server: "grc",
    async rest({ query = {} }: RestRequest) {
      const parts = query.part === undefined ? undefined : [query.part].flat();
      const found = rows
        .filter(({ part }) => parts?.includes(part) ?? true)
        .filter(
          ({ created_at }) => query.created_at__gte === undefined || whole(created_at) >= String(query.created_at__gte),
        )
        .filter(
          ({ created_at }) => query.created_at__lt === undefined || whole(created_at) < String(query.created_at__lt),
        );
      const [first = "", ...rest] = String(query.ordering).split(",");
      expect(rest).toEqual(["id"]);
      const field = first.replace("-", "") as "created_at" | "name";
      const sign = first.startsWith("-") ? -1 : 1;
      found.sort((a, b) => {
        const [x, y] = [a, b].map((row) => whole(row[field])) as [string, string];
        return x === y ? (a.id < b.id ? -1 : 1) : x < y ? -sign : sign;
      });
      const offset = Number(query.offset);
      return { count: found.length, results: found.slice(offset, offset + Number(query.limit)) };
    },
  } as unknown as Platform;
}

const kept = (n: number, part: string, folder = "own"): Kept => ({
  id: uuid(n),
  created_at: moment(n * 13),
  part,
  name: `n${n % 3}`,
  folder: { id: folder },
});

type ReadPage = (place: Place) => Promise<Rows<Kept>>;

/** Reads page after page; what happens in between is done after each. */
async function pagesOf(size: number, read: ReadPage, between: (page: number) => void = () => undefined) {
  const rows: Kept[] = [];
  const totals: number[] = [];
  let pageToken = "";
  for (let page = 0; page < 100; page++) {
    const place = pageOf(create(ListControlsRequestSchema, { pageSize: size, pageToken }), "t");
    const listed = await read(place);
    rows.push(...listed.rows);
    totals.push(listed.totalSize);
    const { nextPageToken } = pagingOf(place, listed);
    if (nextPageToken === undefined) return { rows, totals };
    pageToken = nextPageToken;
    between(page);
  }
  throw new Error("pages without end");
}

const PARTS = ["p0", "p1", "p2"];
const QUERIES = PARTS.map((part) => ({ part }));
const someRows = fc.array(fc.constantFrom(...PARTS), { maxLength: 40 });
const byTime =
  (rows: Kept[], direction: Direction, queries: readonly { part: string }[] = QUERIES): ReadPage =>
  (place) =>
    readByTime<Kept>(platformOf(rows), "/api/x/", queries, direction, place, TENANT);

test.each(["newest", "oldest"] as const)(
  "several lists put together are one list, %s first, ties and all",
  async (way) => {
    await fc.assert(
      fc.asyncProperty(someRows, fc.integer({ min: 1, max: 10 }), async (parts, size) => {
        const rows = parts.map((part, n) => kept(n, part));
        const { rows: told, totals } = await pagesOf(size, byTime(rows, way));
        const sign = way === "newest" ? -1 : 1;
        const expected = [...rows].sort((a, b) => {
          const [x, y] = [whole(a.created_at), whole(b.created_at)];
          return x === y ? (a.id < b.id ? -1 : 1) : x < y ? -sign : sign;
        });
        expect(told.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        expect(new Set(totals)).toEqual(new Set([rows.length]));
        const whole_ = await pagesOf(size, async (place) => pageByTime(rows, way, place));
        expect(whole_.rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      }),
    );
  },
);

test.each(["newest", "oldest"] as const)(
  "nothing comes twice and nothing is lost while others create and delete, %s first",
  async (way) => {
    await fc.assert(
      fc.asyncProperty(
        someRows,
        fc.integer({ min: 1, max: 6 }),
        fc.infiniteStream(fc.nat(39)),
        async (parts, size, picks) => {
          const rows = parts.map((part, n) => kept(n, part));
          const before = rows.map(({ id }) => id);
          const { rows: told } = await pagesOf(size, byTime(rows, way), (page) => {
            const [gone] = rows.splice(Number(picks.next().value) % Math.max(rows.length, 1), 1);
            if (gone !== undefined) before.splice(before.indexOf(gone.id) >>> 0, 1);
            rows.push({ ...kept(1_000 + page, "p1"), created_at: "2026-11-21T13:00:00Z" });
          });
          const ids = told.map(({ id }) => id);
          expect(ids).toHaveLength(new Set(ids).size);
          expect(before.filter((id) => !ids.includes(id))).toEqual([]);
        },
      ),
    );
  },
);

test("in another order all pages hold what was there at the first, whatever is created meanwhile", async () => {
  const rank = { ordering: "name,id", of: ({ name }: Kept) => name };
  for (const queries of [[{}], QUERIES]) {
    const rows = Array.from({ length: 23 }, (_, n) => kept(n, PARTS[n % 3]!));
    const expected = [...rows].sort((a, b) => (a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1));
    const read: ReadPage = (place) => readByRank<Kept>(platformOf(rows), "/api/x/", queries, rank, place, TENANT);
    const { rows: told } = await pagesOf(4, read, (page) => {
      rows.push({ ...kept(1_000 + page, "p0"), name: "a", created_at: "2026-11-21T13:00:00Z" });
    });
    expect(told.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  }
});

test("in another order nothing is lost and nothing comes twice while others delete", async () => {
  const rank = { ordering: "name,id", of: ({ name }: Kept) => name };
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.integer({ min: 1, max: 7 }),
      fc.infiniteStream(fc.nat(59)),
      async (isOne, size, gone) => {
        const rows = Array.from({ length: 60 }, (_, n) => kept(n, PARTS[n % 3]!));
        const before = rows.map(({ id }) => id);
        const last: string[] = [];
        const read: ReadPage = async (place) => {
          const page = await readByRank<Kept>(platformOf(rows), "/api/x/", isOne ? [{}] : QUERIES, rank, place, TENANT);
          last.push(...page.rows.map(({ id }) => id));
          return page;
        };
        const { rows: told } = await pagesOf(size, read, () => {
          // Two anywhere, and the last row of the page by turns: of three, one is always left.
          for (let i = 0; i < 2; i++) {
            const at = rows.findIndex(({ id }) => id === uuid(gone.next().value as number));
            if (at >= 0 && !last.slice(-3).includes(rows[at]!.id)) rows.splice(at, 1);
          }
          const ended = rows.findIndex(({ id }) => id === last.at(-1));
          if (ended >= 0 && last.length % 2 === 0) rows.splice(ended, 1);
        });
        const ids = told.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const left = new Set(rows.map(({ id }) => id));
        expect(before.filter((id) => left.has(id) && !ids.includes(id))).toEqual([]);
      },
    ),
  );
});

test("ids that do not fit a request line are asked for in parts", () => {
  const ids = Array.from({ length: 120 }, (_, n) => uuid(n));
  const queries = queriesOf({ search: "x" }, "folder", ids);
  expect(queries.map(({ folder }) => (folder as string[]).length)).toEqual([50, 50, 20]);
  expect(queries.flatMap(({ folder }) => folder)).toEqual(ids);
});

test("everything is read page after page, or refused where it is too much, and never in part", async () => {
  const rows = Array.from({ length: 2_001 }, (_, n) => kept(n, "p0"));
  const read = (count: number) => readAll(platformOf(rows.slice(0, count)), "/api/x/", [{}], TENANT);
  for (const count of [0, 1, 250, 251, 2_000]) {
    expect(new Set((await read(count)).map(({ id }) => id))).toEqual(new Set(rows.slice(0, count).map(({ id }) => id)));
  }
  await expect(read(2_001)).rejects.toMatchObject({ code: Code.ResourceExhausted });
});

test("rows of another tenant are withheld: a filter that did not narrow the list lets nothing through", async () => {
  const page = { size: 10, offset: 0 };
  const query = { ordering: "name,id" };
  const stranger = readTenantPage(platformOf([kept(1, "p0", "other")]), "/api/x/", query, page, TENANT);
  await expect(stranger).rejects.toMatchObject({
    code: Code.Unavailable,
    rawMessage: expect.stringContaining("discarded"),
  });
  await expect(
    readTenantPage(platformOf([kept(1, "p0", "sub")]), "/api/x/", query, page, TENANT),
  ).resolves.toMatchObject({ totalSize: 1 });
});

test("a token that holds no place of such a list is refused", async () => {
  for (const cursor of ["", "soon", "2026-11-21,x", "1 or 1=1"]) {
    const place = { size: 5, offset: 5, cursor, digest: "" };
    await expect(byTime([], "newest")(place)).rejects.toMatchObject({ code: Code.InvalidArgument });
    const rank = { ordering: "name,id", of: () => "" };
    await expect(readByRank(platformOf([]), "/api/x/", [{}], rank, place, TENANT)).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  }
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
