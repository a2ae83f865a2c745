import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import { sameIds, type Truth } from "../../frame/table.js";
import { LISTS } from "../seen.js";
import { personOf, readWhole, refuses, type Stage, seenBy, tenantOf } from "../stage.js";
import { NOWHERE, STRANGERS, WORKERS } from "./tenants.js";

type Tree = Readonly<Record<string, Row & { readonly children?: Tree | null }>>;

function* outline(tree: Tree, depth = 0, parent?: string): Generator<Row> {
  for (const [id, node] of Object.entries(tree)) {
    yield { ...node, id, depth, parent };
    yield* outline(node.children ?? {}, depth + 1, id);
  }
}

/** Tools about frameworks. */
export const frameworkTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_frameworks",
    cases: [
      {
        about: "has every framework that one sees, by name",
        as: WORKERS,
        async prove(stage, person) {
          const expected = await stage.platform.list(stage.world.emails[person]!, LISTS.framework, {
            ordering: "name,id",
          });
          const { id: tenant_id } = await tenantOf(stage, person);
          const reading = { tool: "list_frameworks", rows: "frameworks", args: { tenant_id }, pageSize: 1 };
          if (!(await personOf(stage, person).tools()).includes("list_frameworks")) {
            expect(expected).toEqual([]);
            return;
          }
          const { rows } = await readWhole(stage, person, reading);
          sameIds(rows, expected);
          for (const [i, row] of rows.entries()) {
            const { name, min_score, max_score, has_compliance_assessments: in_use } = expected[i]!;
            expect(row).toMatchObject({ name, min_score, max_score, in_use });
          }
        },
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage, person) => refuses(stage, person, "list_frameworks", {}, NOWHERE),
      },
    ],
  },
  {
    tool: "get_framework",
    cases: [
      {
        about: "tells the scale and its levels",
        as: WORKERS,
        async prove(stage, person) {
          const { id: tenant_id } = await tenantOf(stage, person);
          for (const key of ["plain", "grouped"]) {
            const args = { tenant_id, framework_id: stage.world.ids[key]! };
            const direct = await seenBy(stage, person).read(LISTS.framework, args.framework_id);
            if (direct === undefined) {
              await refuses(stage, person, "get_framework", args);
              continue;
            }
            const { framework } = await personOf(stage, person).get<{ framework: Row }>("get_framework", args);
            const { id, name, min_score, max_score } = direct;
            expect(framework).toMatchObject({ id, name, min_score, max_score });
            const levels = (direct.scores_definition ?? []) as { score: number; name: string }[];
            const told = (framework.levels ?? []) as { score: number; name: string }[];
            expect(told.map((one) => [one.score, one.name])).toEqual(levels.map((one) => [one.score, one.name]));
          }
        },
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage, person) =>
          refuses(stage, person, "get_framework", { framework_id: stage.world.ids.plain }, NOWHERE),
      },
    ],
  },
  {
    tool: "get_framework_tree",
    cases: [
      {
        about: "has every requirement in the framework's order, with its place",
        as: WORKERS,
        async prove(stage, person) {
          const { id: tenant_id } = await tenantOf(stage, person);
          const framework_id = stage.world.ids.plain!;
          const args = { tenant_id, framework_id };
          if ((await seenBy(stage, person).read(LISTS.framework, framework_id)) === undefined) {
            return refuses(stage, person, "get_framework_tree", args);
          }
          if (!(await personOf(stage, person).tools()).includes("get_framework_tree")) return;
          const email = stage.world.emails[person]!;
          const tree = await stage.platform.need(email, "GET", `${LISTS.framework}${framework_id}/tree/`);
          const expected = [...outline(tree as Tree)];
          const reading = { tool: "get_framework_tree", rows: "requirements", args, pageSize: 7 };
          const { rows } = await readWhole(stage, person, reading);
          sameIds(rows, expected);
          for (const [i, row] of rows.entries()) {
            const { depth, assessable, parent } = expected[i]!;
            expect(row).toMatchObject({ depth, assessable });
            expect((row.parent as Row | undefined)?.id).toBe(parent);
          }
        },
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage, person) =>
          refuses(stage, person, "get_framework_tree", { framework_id: stage.world.ids.plain }, NOWHERE),
      },
    ],
  },
];
