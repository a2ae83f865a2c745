import { expect } from "vitest";
import type { Case, Truth } from "../../frame/table.js";
import { personOf, type Stage, seenBy } from "../stage.js";
import { fresh, object, target } from "./changed.js";

// What becomes of calls that come at once.

const WRITER = ["analyst"];
/** Enough for two of them to come in one millisecond. */
const AT_ONCE = 12;

const times = <T>(make: (i: number) => T): T[] => Array.from({ length: AT_ONCE }, (_, i) => make(i));

/** Of what may exist twice, there are as many objects as answers. */
const eachItsOwn = (tool: string, args: (stage: Stage) => Promise<object>): Truth<Stage> => ({
  tool,
  cases: [
    {
      about: "raced: each call makes an object of its own",
      as: WRITER,
      async prove(stage, person) {
        const given = await args(stage);
        const said = await Promise.all(times(() => personOf(stage, person).ask(tool, given)));
        expect(said.map(({ refusal }) => refusal).filter((one) => one !== "")).toEqual([]);
        const ids = said.map(({ result }) => object(result).id);
        expect(new Set(ids).size).toBe(AT_ONCE);
        const there = new Set((await seenBy(stage, person).objects()).map(({ id }) => id));
        expect(ids.filter((id) => !there.has(id))).toEqual([]);
      },
    },
  ],
});

const aliases: Case<Stage> = {
  about: "raced: other names that are added at once are all kept",
  as: WRITER,
  async prove(stage, person) {
    const object_id = await target(stage);
    const names = times(() => fresh(stage, "Other"));
    const said = await Promise.all(
      names.map((name) => personOf(stage, person).ask("update_entity", { object_id, add_aliases: [name] })),
    );
    expect(said.map(({ refusal }) => refusal).filter((one) => one !== "")).toEqual([]);
    const read = await seenBy(stage, "root").object(object_id);
    expect(read!.aliases.toSorted()).toEqual(names.toSorted());
  },
};

const promotion: Case<Stage> = {
  about: "raced: one of several promotions says that it created",
  as: WRITER,
  async prove(stage, person) {
    const value = `promoted-at-once.${stage.world.run}.example`;
    const observable_id = await stage.world.observe("Domain-Name", { value });
    const said = await Promise.all(
      times(() => personOf(stage, person).ask("promote_observable_to_indicator", { observable_id })),
    );
    expect(said.filter(({ result }) => result?.created === true)).toHaveLength(1);
  },
};

/** What the tools say of calls that come at once. */
export const racedTruths: readonly Truth<Stage>[] = [
  eachItsOwn("create_note", async (stage) => ({ content: fresh(stage, "Note"), object_ids: [await target(stage)] })),
  eachItsOwn("create_opinion", async (stage) => ({ opinion: "agree", object_ids: [await target(stage)] })),
  eachItsOwn("create_grouping", async (stage) => ({ name: fresh(stage, "Grouping"), context: "unspecified" })),
  eachItsOwn("create_case_incident", async (stage) => ({ name: fresh(stage, "Case") })),
  { tool: "update_entity", cases: [aliases] },
  { tool: "promote_observable_to_indicator", cases: [promotion] },
];
