import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Listing, LOOKED_AT, listPage, lookedAt } from "../../../../services/shared/store/page.js";
import type { Base, DocCollection } from "../../../../services/shared/store/store.js";
import { titled } from "../../../support/titled.js";
import { backends } from "./backends.js";

interface Thing extends Base {
  readonly who: readonly string[];
  readonly n: number;
  readonly odd: boolean;
}

const ALL = 2 * LOOKED_AT + 500;
const idOf = (n: number): string => String(n).padStart(6, "0");

const listing = (which: Partial<Listing<Thing>> = {}): Listing<Thing> => ({
  seen: { who: { $in: ["a", "b"] } },
  index: "who",
  order: "_id",
  direction: -1,
  size: 100,
  ...which,
});

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(titled(backend.title, backend.missing), () => {
    let things: DocCollection<Thing>;
    let close: () => Promise<void>;
    beforeAll(async () => {
      const opened = await backend.open();
      close = opened.close;
      const indexes = [
        { name: "who", key: { who: 1, _id: -1 } },
        { name: "n", key: { n: 1, _id: -1 } },
        { name: "odd", key: { odd: 1, _id: -1 } },
      ] as const;
      await opened.store.ensure([{ name: "paged", indexes }]);
      things = opened.store.collection<Thing>("paged");
      await things.deleteMany({});
      // Everybody's belong to a or b or both, by turns.
      const who = [["a"], ["b"], ["a", "b"]];
      await things.insertMany(
        Array.from({ length: ALL }, (_, n) => ({ _id: idOf(n), who: who[n % 3]!, n, odd: n % 2 === 1 })),
      );
      await things.insertMany(
        Array.from({ length: 3 }, (_, n) => ({ _id: idOf(ALL + n), who: ["c"], n: 0, odd: true })),
      );
    });
    afterAll(() => close());

    async function walked(which: Partial<Listing<Thing>>): Promise<{ ids: string[]; pages: number }> {
      const ids: string[] = [];
      for (let [after, pages] = [undefined as string | undefined, 1]; ; pages++) {
        const { items, end } = await listPage(things, listing({ ...which, after }));
        ids.push(...items.map(({ _id }) => _id));
        if (end === undefined) return { ids, pages };
        after = end;
      }
    }

    test("pages hold everything that is seen once, in order, whichever value it is seen by", async () => {
      const ids = Array.from({ length: ALL }, (_, n) => idOf(n));
      expect((await walked({ size: 499 })).ids).toEqual([...ids].reverse());
      expect((await walked({ size: 499, direction: 1 })).ids).toEqual(ids);
      expect((await walked({ from: idOf(10), to: idOf(20) })).ids).toEqual(ids.slice(10, 20).reverse());
      expect((await walked({ from: idOf(10), to: idOf(20), direction: 1, size: 3 })).ids).toEqual(ids.slice(10, 20));
    });

    test("what no index tells is found too, though a page on the way may hold nothing", async () => {
      for (const direction of [1, -1] as const) {
        expect((await walked({ wanted: { n: 1_000 }, direction })).ids).toEqual([idOf(1_000)]);
        const many = await walked({ wanted: { n: { $gte: 1_200 } }, direction });
        expect(many.ids.length).toBe(ALL - 1_200);
      }
      const { items, end } = await listPage(things, listing({ wanted: { n: 1 } }));
      expect(items).toEqual([]);
      expect(end).toBe(idOf(ALL - LOOKED_AT));
      expect((await listPage(things, listing({ wanted: { n: 1 }, size: 1 }))).end).toBe(idOf(ALL - lookedAt(1)));
    });

    test("what another index tells is found along it, and a page ends at what is seen", async () => {
      const ways = [{ index: "n", by: { n: 1_000 } }];
      expect((await walked({ ways })).ids).toEqual([idOf(1_000)]);
      expect((await walked({ ways, direction: 1, wanted: { n: 1 } })).pages).toBe(1);
      const hidden = { seen: { who: "a" }, ways: [{ index: "odd", by: { odd: true } }], wanted: { n: -1 }, size: 1 };
      for (const direction of [1, -1] as const) {
        const { end } = await listPage(things, listing({ ...hidden, direction }));
        expect((await things.findOne({ _id: end as string }))?.who).toContain("a");
        expect((await walked({ ...hidden, direction })).ids).toEqual([]);
        expect((await walked({ ...hidden, direction, wanted: { n: 7 } })).ids).toEqual([]);
        expect((await walked({ ...hidden, direction, wanted: { n: 9 } })).ids).toEqual([idOf(9)]);
      }
    });

    test("how many there are is told where the first page holds them all, and not counted elsewhere", async () => {
      const told = async (which: Partial<Listing<Thing>>) => (await listPage(things, listing(which))).total;
      expect(await told({})).toBeUndefined();
      expect(await told({ after: idOf(5) })).toBeUndefined();
      expect(await told({ from: idOf(ALL - 100) })).toBe(100);
      expect(await told({ from: idOf(ALL - 101) })).toBeUndefined();
      expect(await told({ seen: { who: "c" } })).toBe(3);
      expect(await told({ seen: { who: "nobody" } })).toBe(0);
      expect(await told({ wanted: { n: { $gte: ALL - 5 } } })).toBeUndefined();
      expect(await told({ from: idOf(ALL - LOOKED_AT), wanted: { n: { $gte: ALL - 5 } } })).toBe(5);
    });

    test.skipIf(backend.title !== "embedded")(
      titled(
        "an index that is not declared is refused",
        backend.title === "embedded" ? undefined : "MongoDB makes a plan of its own",
      ),
      async () => {
        await expect(listPage(things, listing({ index: "other" }))).rejects.toThrow();
      },
    );
  });
}
