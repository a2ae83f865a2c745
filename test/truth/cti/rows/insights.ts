import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { labelsOf } from "../seen.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { DECORATED, READERS } from "../world.js";

import { idsOf, outside } from "./reading.js";

/** Tools that count, look up and find. */
export const insightTruths: readonly Truth<Stage>[] = [
  {
    tool: "count_entities",
    cases: [
      {
        about: "counts what one sees",
        as: READERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const seen = (await seenBy(stage, person).objects()).filter((node) => node.representative.main.includes(run));
          const count = async (args: object) =>
            (await personOf(stage, person).get<{ count: number }>("count_entities", args)).count;
          expect(await count({ query: run, types: ["Malware"] })).toBe(
            seen.filter((node) => node.entity_type === "Malware").length,
          );
          expect(await count({ types: ["Malware"], query: run, filter: { labels: [`label ${run}`] } })).toBe(
            seen.filter((node) => node.entity_type === "Malware" && labelsOf(node).length > 0).length,
          );
          expect(await count({ query: `c2-1.${run}` })).toBe(
            seen.filter((node) => node.representative.main.includes(`c2-1.${run}`)).length,
          );
        },
      },
      outside("count_entities", () => ({})),
    ],
  },
  {
    tool: "lookup_ioc",
    cases: [
      {
        about: "knows what an observable or an indicator of this person says, and nothing else",
        as: READERS,
        async prove(stage, person) {
          const { run } = stage.world;
          const seen = await seenBy(stage, person).objects();
          const long = `https://long.${run}.example/${"x".repeat(600)}`;
          const world = stage.world as unknown as { address(i: number): string; hash(i: number, n: number): string };
          const asked = [
            `c2-0.${run}.example`,
            `only[.]${run}.example`,
            `secret.${run}.example`,
            `later.${run}.example`,
            `hxxps://sigma.${run}.example/x`,
            long,
            world.address(0),
            world.address(4),
            world.hash(0, 32),
            world.hash(2, 64).toUpperCase(),
            `nothing.${run}.example`,
            `${run}.example`,
          ];
          for (const given of asked) {
            const value = given.replace("hxxp", "http").replaceAll("[.]", ".").toLowerCase();
            const bearing = seen.filter(
              (node) =>
                node.observable_value?.toLowerCase() === value ||
                node.hashes?.some(({ hash }: { hash: string }) => hash === value),
            );
            const naming = seen.filter((node) =>
              [`'${value}'`, `"${value}"`].some((one) =>
                String(node.pattern ?? "")
                  .toLowerCase()
                  .includes(one),
              ),
            );
            const said = await personOf(stage, person).get<Record<string, unknown>>("lookup_ioc", { value: given });
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const matches = (said.matches ?? []) as (Row & { indicators?: Row[]; containers?: Row[] })[];
            expect([given, idsOf(matches)]).toEqual([given, idsOf(bearing)]);
            const indicators = [
              ...matches.flatMap((match) => match.indicators ?? []),
              ...((said.indicators ?? []) as Row[]),
            ];
            expect([given, idsOf(indicators)]).toEqual([given, idsOf(naming)]);
            expect([given, said.known ?? false]).toEqual([given, bearing.length + naming.length > 0]);
          }
        },
      },
      outside("lookup_ioc", () => ({ value: "192.0.2.1" })),
    ],
  },
  {
    tool: "find_entity_by_name",
    cases: [
      {
        about: "finds names and aliases exactly, however they are decorated, and as tools show them",
        as: READERS,
        async prove(stage, person) {
          const { run, ids } = stage.world;
          const seen = new Map((await seenBy(stage, person).objects()).map((node) => [node.id, node]));
          const asked: [string, string][] = [
            ...DECORATED.map(([key, name]) => [key, name.replace("RUN", run)] as [string, string]),
            ["set1", `Set 1 ${run}`],
            ["set2", `ALIAS 2 ${run.toUpperCase()}`],
            ["malware3", `  malware 3 ${run} `],
            ["malware4", `Malware 4 ${run}`],
          ];
          const technique = seen.get(ids.technique!);
          asked.push(["technique", `Technique ${run}`], ["technique", String(technique?.representative.main)]);
          for (const [key, name] of asked) {
            const said = await personOf(stage, person).get<{ exact?: boolean; entities?: Row[] }>(
              "find_entity_by_name",
              { name },
            );
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const isSeen = seen.has(ids[key]!);
            expect([name, said.exact ?? false]).toEqual([name, isSeen]);
            if (isSeen) expect([name, idsOf(said.entities ?? [])]).toEqual([name, [ids[key]]]);
          }
        },
      },
      outside("find_entity_by_name", () => ({ name: "Anything" })),
    ],
  },
  {
    tool: "whoami",
    cases: [
      {
        about: "says who one is, with the markings and capabilities that the platform gives",
        as: [...READERS, "nobody"],
        async prove(stage, person) {
          const { me } = await stage.platform.need(
            person,
            "{ me { id name user_email capabilities { name } allowed_marking { definition } effective_confidence_level { max_confidence } } }",
          );
          const said = await personOf(stage, person).get<Record<string, unknown>>("whoami");
          expect(said.id).toBe(me.id);
          expect(said.email).toBe(me.user_email);
          expect(said.max_confidence).toBe(me.effective_confidence_level?.max_confidence);
          expect([...((said.markings ?? []) as string[])].sort()).toEqual(
            me.allowed_marking.map(({ definition }: { definition: string }) => definition).sort(),
          );
          const held = (said.capabilities ?? []) as string[];
          if (!held.includes("*")) for (const { name } of me.capabilities) expect(held).toContain(name);
        },
      },
      {
        about: "says that there is no account",
        as: ["stranger"],
        prove: (stage, person) => refuses(stage, person, "whoami", {}, /no account|sign/),
      },
    ],
  },
  {
    tool: "list_entity_types",
    cases: [
      {
        about: "lists the platform's own types",
        as: READERS,
        async prove(stage, person) {
          const { types } = await personOf(stage, person).get<{ types: string[] }>("list_entity_types", {});
          for (const base of ["Stix-Domain-Object", "Stix-Cyber-Observable"]) {
            const { subTypes } = await stage.platform.need(
              person,
              "query($t: String) { subTypes(type: $t, first: 500) { edges { node { id } } } }",
              { t: base },
            );
            for (const { node } of subTypes.edges) expect(types).toContain(node.id);
          }
          for (const one of ["uses", "related-to", "indicates"]) expect(types).toContain(one);
        },
      },
      {
        about: "answers who may not read knowledge where the platform does",
        as: ["nobody"],
        async prove(stage, person) {
          const query = "query { subTypes(first: 1) { edges { node { id } } } }";
          const isOpen = await stage.platform.need(person, query, {}).then(
            () => true,
            () => false,
          );
          const { refusal } = await personOf(stage, person).ask("list_entity_types");
          expect(refusal === "").toBe(isOpen);
        },
      },
      {
        about: "is refused without an account",
        as: ["stranger"],
        prove: (stage, person) => refuses(stage, person, "list_entity_types", {}),
      },
    ],
  },
];
