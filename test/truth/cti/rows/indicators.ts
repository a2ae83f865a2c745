import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { labelsOf, markingsOf } from "../seen.js";
import { personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { ONLY_READERS, OUTSIDE, READERS, WRITERS } from "../world.js";
import { changedBy, fresh, others, refused } from "./changed.js";
import { idsOf, outside, readOrUnknown } from "./reading.js";

const time = (value: unknown) => (value ? Date.parse(String(value)) : undefined);
let count = 0;
const domain = ({ world }: Stage) => `ind-${++count}.${world.run}.example`;
const patternOf = (value: string) => `[domain-name:value = '${value}']`;

/** An indicator that everybody may change. */
const indicator = (stage: Stage, more: object = {}) =>
  stage.world.make("Indicator", {
    name: fresh(stage, "Indicator of"),
    pattern: patternOf(domain(stage)),
    pattern_type: "stix",
    confidence: 0,
    ...more,
  });

const WHOLE = `id name pattern description valid_from valid_until revoked x_opencti_score x_opencti_detection confidence
  observables { edges { node { id } } }`;

async function whole(stage: Stage, id: string): Promise<Node | undefined> {
  const query = `query($id: String!) { one: indicator(id: $id) { ${WHOLE} } }`;
  return (await stage.platform.need("root", query, { id })).one ?? undefined;
}

const observable = (stage: Stage) => stage.world.observe("Domain-Name", { value: domain(stage) });

/** Tools of indicators and observables. */
export const indicatorTruths: readonly Truth<Stage>[] = [
  {
    tool: "get_indicator",
    cases: [
      {
        about: "says of an indicator what the platform says, with the observables that one sees",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["based", "patternOnly", "hiddenPattern", "sigma", "past"]) {
            const id = stage.world.ids[key]!;
            const read = await readOrUnknown(stage, person, "get_indicator", "indicator_id", id);
            if (read === undefined) continue;
            const row = read.said.indicator as Row;
            const { node } = read;
            expect([row.name, row.pattern, row.pattern_type]).toEqual([
              node.representative.main,
              node.pattern,
              node.pattern_type,
            ]);
            expect([time(row.valid_from), time(row.valid_until)]).toEqual([
              time(node.valid_from),
              time(node.valid_until),
            ]);
            expect([row.revoked ?? false, row.score ?? null]).toEqual([node.revoked, node.x_opencti_score]);
            expect([...((row.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
            const seen = await seenBy(stage, person).objects();
            const based = key === "based" && seen.some((one) => one.id === stage.world.ids.domain0);
            expect(idsOf((read.said.observables ?? []) as Row[])).toEqual(based ? [stage.world.ids.domain0] : []);
          }
        },
      },
      outside("get_indicator", ({ world }) => ({ indicator_id: world.ids.based })),
    ],
  },
  {
    tool: "list_entity_indicators",
    cases: [
      {
        about: "has the indicators that one sees of what points to the object, once each, over all pages",
        as: READERS,
        async prove(stage, person) {
          const { ids } = stage.world;
          for (const key of ["malware0", "domain0", "malware4"]) {
            const id = ids[key]!;
            const args = { object_id: id };
            if ((await seenBy(stage, person).object(id)) === undefined) {
              await refuses(stage, person, "list_entity_indicators", args, /visible/);
              continue;
            }
            if (key === "malware0" && person === "administrator") {
              for (const one of ["patternOnly", "hiddenPattern", "notYet", "past", "sigma"])
                await stage.world.relate(ids[one]!, "indicates", id, { start_time: "2026-01-01T00:00:00.000Z" });
              await stage.world.relate(ids.sigma!, "indicates", id, { start_time: "2026-06-01T00:00:00.000Z" });
            }
            const seen = new Map((await seenBy(stage, person).objects()).map((node) => [node.id, node]));
            const pointing = (await seenBy(stage, person).relationships()).filter(
              ({ toId, relationship_type }) => toId === id && ["indicates", "based-on"].includes(relationship_type),
            );
            const expected = [...new Set(pointing.map(({ fromId }) => fromId))].filter((one) => seen.has(one));
            const reading = { tool: "list_entity_indicators", rows: "indicators", args, pageSize: 2 };
            expect(idsOf((await readWhole(stage, person, reading)).rows)).toEqual(expected.sort());
            const valid = expected.filter((one) => {
              const { revoked, valid_from, valid_until } = seen.get(one)!;
              return !revoked && Date.parse(valid_from) <= Date.now() && Date.parse(valid_until) > Date.now();
            });
            const { rows } = await readWhole(stage, person, { ...reading, args: { ...args, valid_only: true } });
            expect(idsOf(rows)).toEqual(valid.sort());
          }
        },
      },
      outside("list_entity_indicators", ({ world }) => ({ object_id: world.ids.malware0 })),
    ],
  },
  {
    tool: "create_indicator",
    cases: [
      {
        about: "makes one as asked, says what the platform sets itself, and does not overwrite one that is there",
        as: WRITERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const based = await observable(stage);
          const pattern = patternOf(domain(stage));
          const args = {
            name: fresh(stage, "Written"),
            pattern,
            main_observable_type: "Domain-Name",
            score: 60,
            valid_until: "2090-01-01T00:00:00Z",
            observable_ids: [based],
            refs: { labels: [`label ${run}`], markings: ["TLP:GREEN"], confidence: 30 },
          };
          const { result, refusal, changes, after } = await changedBy(stage, person, "create_indicator", args);
          expect(refusal).toBe("");
          const made = result!.indicator as Row;
          expect(changes).toContain(`+${made.id}`);
          // The relationship to the observable comes with it.
          expect(changes).toHaveLength(2);
          const node = after.get(made.id) as Node;
          expect([node.pattern, node.x_opencti_score, node.confidence]).toEqual([pattern, 60, 30]);
          expect([markingsOf(node), labelsOf(node)]).toEqual([["TLP:GREEN"], [`label ${run}`]]);
          const direct = (await whole(stage, made.id))!;
          expect(direct.observables.edges.map((edge: { node: Node }) => edge.node.id)).toEqual([based]);
          const kept = Date.parse(direct.valid_until) === Date.parse(args.valid_until);
          expect(((result!.notices ?? []) as string[]).join().includes("valid_until")).toBe(!kept);
          const again = { name: fresh(stage, "Again"), pattern: pattern.replaceAll(" ", "") };
          await refuses(stage, person, "create_indicator", again, /already has this pattern/);
          expect((await whole(stage, made.id))!.name).toBe(args.name);
        },
      },
      refused(
        "a pattern that only a hidden one has is not told",
        "create_indicator",
        ({ world }) => ({ name: "Guessed", pattern: patternOf(`secret.${world.run}.example`) }),
        /does not let you/,
        ["analyst", "writer"],
      ),
      refused(
        "a pattern that is none is refused",
        "create_indicator",
        () => ({ name: "No pattern", pattern: "nothing of a pattern" }),
        /pattern/,
      ),
      others("create_indicator", (stage) => ({ name: "Not made", pattern: patternOf(domain(stage)) })),
    ],
  },
  {
    tool: "update_indicator",
    cases: [
      {
        about: "changes what was asked, and says what the platform changed along",
        as: WRITERS,
        async prove(stage, person) {
          const id = await indicator(stage, { description: "before", x_opencti_score: 70 });
          const name = fresh(stage, "Renamed");
          const { refusal, changes } = await changedBy(stage, person, "update_indicator", { indicator_id: id, name });
          expect([refusal, changes]).toEqual(["", [`${id}.representative.main`]]);
          const before = (await whole(stage, id))!;
          for (const change of [{ revoked: true }, { revoked: false }, { score: 90 }]) {
            const first = (await whole(stage, id))!;
            const said = await personOf(stage, person).get<{ indicator: Row; notices?: string[] }>("update_indicator", {
              indicator_id: id,
              ...change,
            });
            const after = (await whole(stage, id))!;
            expect([said.indicator.revoked ?? false, said.indicator.score]).toEqual([
              after.revoked,
              after.x_opencti_score,
            ]);
            const words = [
              ["score", "x_opencti_score"],
              ["valid_until", "valid_until"],
              ["detection", "x_opencti_detection"],
              ["revoked", "revoked"],
            ] as const;
            const notices = (said.notices ?? []).join("; ");
            for (const [word, key] of words) {
              if (word in change) continue;
              const moved = JSON.stringify(first[key] ?? false) !== JSON.stringify(after[key] ?? false);
              expect([change, word, notices.includes(word)]).toEqual([change, word, moved]);
            }
          }
          expect((await whole(stage, id))!.description).toBe(before.description);
        },
      },
      refused(
        "a hidden one is not there",
        "update_indicator",
        ({ world }) => ({ indicator_id: world.ids.hiddenPattern, description: "no" }),
        /visible/,
        ["analyst", "writer"],
      ),
      others("update_indicator", ({ world }) => ({ indicator_id: world.ids.based, description: "no" })),
    ],
  },
  {
    tool: "delete_indicator",
    cases: [
      {
        about: "takes one away, and nothing else",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const id = await indicator(stage);
          const { refusal, changes } = await changedBy(stage, person, "delete_indicator", { indicator_id: id });
          expect([refusal, changes]).toEqual(["", [`-${id}`]]);
        },
      },
      others("delete_indicator", ({ world }) => ({ indicator_id: world.ids.based }), [
        "writer",
        ...ONLY_READERS,
        ...OUTSIDE,
      ]),
    ],
  },
  {
    tool: "get_observable",
    cases: [
      {
        about: "says of an observable what the platform says",
        as: READERS,
        async prove(stage, person) {
          for (const key of ["ip0", "ip4", "domain0", "file0", "file2"]) {
            const read = await readOrUnknown(stage, person, "get_observable", "observable_id", stage.world.ids[key]!);
            if (read === undefined) continue;
            const { node, said } = read;
            const row = said.observable as Row;
            expect([row.type, row.value, row.score ?? null]).toEqual([
              node.entity_type,
              node.observable_value,
              node.x_opencti_score,
            ]);
            const hashes = (said.hashes ?? []) as { algorithm: string; hash: string }[];
            expect(hashes.map(({ hash }) => hash).sort()).toEqual(
              (node.hashes ?? []).map(({ hash }: { hash: string }) => hash).sort(),
            );
            expect(idsOf((said.indicators ?? []) as Row[])).toEqual(key === "domain0" ? [stage.world.ids.based] : []);
          }
        },
      },
      outside("get_observable", ({ world }) => ({ observable_id: world.ids.ip0 })),
    ],
  },
  {
    tool: "update_observable",
    cases: [
      {
        about: "changes what was asked and nothing else",
        as: WRITERS,
        async prove(stage, person) {
          const id = await observable(stage);
          const args = { observable_id: id, score: 77 };
          const { refusal, changes, result } = await changedBy(stage, person, "update_observable", args);
          expect([refusal, changes, result?.notices ?? []]).toEqual(["", [`${id}.x_opencti_score`], []]);
        },
      },
      refused(
        "a hidden one is not there",
        "update_observable",
        ({ world }) => ({ observable_id: world.ids.ip4, score: 1 }),
        /visible/,
        ["analyst", "writer"],
      ),
      others("update_observable", ({ world }) => ({ observable_id: world.ids.ip0, score: 1 })),
    ],
  },
  {
    tool: "delete_observable",
    cases: [
      {
        about: "takes one away, and nothing else",
        as: ["administrator", "analyst"],
        async prove(stage, person) {
          const id = await observable(stage);
          const { refusal, changes } = await changedBy(stage, person, "delete_observable", { observable_id: id });
          expect([refusal, changes]).toEqual(["", [`-${id}`]]);
        },
      },
      others("delete_observable", ({ world }) => ({ observable_id: world.ids.ip0 }), [
        "writer",
        ...ONLY_READERS,
        ...OUTSIDE,
      ]),
    ],
  },
];
