import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { holdsNothingHidden, personOf, type Stage, seenBy } from "../stage.js";
import { READERS } from "../world.js";
import { idsOf } from "./reading.js";

/** Values that longer ones hold, and values that they only seem to hold. */
interface Held {
  readonly address: string;
  readonly part: string;
}
let made: Promise<Held> | undefined;

async function makeHeld({ world }: Stage): Promise<Held> {
  const n = Number.parseInt(world.run.slice(-4, -1), 36) % 250;
  const [address, part] = [`100.70.${n}.21`, `held.${world.run}.example`];
  const url = (value: string, ...markings: string[]) =>
    world.observe("Url", { value }, { m: world.marked(...markings).objectMarking });
  // What only seems to hold the address comes first and is more than the platform shows at once.
  for (let i = 0; i < 25; i++) await url(`http://${address}${i}.${world.run}.example/${i}`);
  await url(`http://1${address}/x`);
  await url(`http://${address}:8080/a.bin`);
  await url(`https://gate.${world.run}.example/?to=${address}`, "TLP:AMBER");
  await url(`http://${address}/red`, "TLP:RED");
  await url(`http://www.${part}/in?q=1`);
  await url(`http://${part}.other-${world.run}.example/`);
  await url(`http://not${part}/`);
  await world.observe("Email-Addr", { value: `mail@${part}` });
  await world.observe("Domain-Name", { value: `deep.sub.${part}` });
  return { address, part };
}

/** Whether a value stands in a longer one as itself, and not as a part of another address or name. */
function standsIn(longer: string, value: string): boolean {
  const escaped = value.toLowerCase().replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const before = /^[\d.]+$/.test(value) ? "(?<![\\p{L}\\p{N}_.-])" : "(?<![\\p{L}\\p{N}_-])";
  const whole = new RegExp(`${before}${escaped}(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])`, "u");
  return longer.toLowerCase() !== value.toLowerCase() && whole.test(longer.toLowerCase());
}

type Words = readonly [tool: string, rows: string, args?: object];

/** Lists that are searched by words, in which an object is, and not in the others. */
const KINDS: readonly (readonly [type: string, own: readonly Words[], others: readonly Words[]])[] = [
  ["Incident", [["list_incidents", "incidents"]], [["list_cases", "cases"]]],
  [
    "Intrusion-Set",
    [["list_intrusion_sets", "intrusion_sets"]],
    [
      ["list_threat_actors", "threat_actors"],
      ["list_campaigns", "campaigns"],
    ],
  ],
  [
    "Campaign",
    [["list_campaigns", "campaigns"]],
    [
      ["list_threat_actors", "threat_actors"],
      ["list_intrusion_sets", "intrusion_sets"],
    ],
  ],
  [
    "Threat-Actor-Group",
    [["list_threat_actors", "threat_actors"]],
    [
      ["list_campaigns", "campaigns"],
      ["list_intrusion_sets", "intrusion_sets"],
    ],
  ],
  [
    "Malware",
    [
      ["list_malware", "malware"],
      ["search_all", "objects"],
    ],
    [
      ["list_tools", "tools"],
      ["search_entities", "entities", { types: ["Tool"] }],
    ],
  ],
  ["Tool", [["list_tools", "tools"]], [["list_malware", "malware"]]],
  [
    "Report",
    [
      ["list_reports", "reports"],
      ["list_containers", "containers"],
    ],
    [
      ["list_vulnerabilities", "vulnerabilities"],
      ["list_observables", "observables"],
    ],
  ],
];

let count = 0;
/** A word that stands in nothing yet. */
const newWord = ({ world }: Stage) => `word${++count}${world.run}`;

/** What an answer says of what it did not look at, and what longer values it knows. */
export const hintTruths: readonly Truth<Stage>[] = [
  {
    tool: "lookup_ioc",
    cases: [
      {
        about:
          "names longer values that hold an unknown one, of those that this person sees, and none that only looks like it",
        as: READERS,
        async prove(stage, person) {
          made ??= makeHeld(stage);
          const { address, part } = await made;
          const seen = (await seenBy(stage, person).objects()).filter((one) => one.observable_value !== undefined);
          const asked = [
            address,
            address.replaceAll(".", "[.]"),
            part,
            `${part}.`,
            part.toUpperCase(),
            `mail@${part}`,
            `other-${stage.world.run}.example`,
            `gate.${stage.world.run}.example`,
            "a.bin",
            address.slice(0, -1),
            address.slice(1),
            `"${part}"`,
            `nothing-${stage.world.run}.example`,
            "*",
            "-",
            "a".repeat(32),
          ];
          for (const value of asked) {
            const said = await personOf(stage, person).get<Record<string, unknown>>("lookup_ioc", { value });
            await holdsNothingHidden(stage, person, JSON.stringify(said));
            const plain = String(said.value ?? "");
            const isKnown = seen.some((one) => one.observable_value.toLowerCase() === plain.toLowerCase());
            const holding = isKnown ? [] : seen.filter((one) => standsIn(one.observable_value, plain));
            const told = (said.contained_in ?? []) as Row[];
            expect([value, told.length]).toEqual([value, Math.min(5, holding.length)]);
            expect([value, idsOf(holding)]).toEqual([value, expect.arrayContaining(idsOf(told))]);
            const values = new Map(holding.map((one) => [one.id, one]));
            for (const row of told) {
              const { observable_value, entity_type } = values.get(row.id)!;
              expect([row.name, row.type]).toEqual([observable_value, entity_type]);
            }
            expect(said.not_searched).toMatch(/markings that you may not see/);
          }
        },
      },
    ],
  },
  {
    tool: "search_all",
    cases: [
      {
        about: "says on the first page of words what was not searched: it is not found here, and found there",
        as: ["analyst", "reader"],
        async prove(stage, person) {
          const tools = new Set(await personOf(stage, person).tools());
          const ask = async ([tool, rows, more]: Words, query: string, page_token = "") => {
            const args = { ...more, query, page_size: 1, page_token };
            const said = await personOf(stage, person).get<Record<string, unknown>>(tool, args);
            return { said, rows: (said[rows] ?? []) as Row[] };
          };
          for (const [type, own, others] of KINDS) {
            const word = newWord(stage);
            const more = type === "Report" ? { published: "2026-01-01T00:00:00.000Z" } : {};
            const ids = [
              await stage.world.make(type, { name: `One ${word}`, ...more }),
              await stage.world.make(type, { name: `Two ${word}`, ...more }),
            ];
            for (const list of own) {
              const first = await ask(list, word);
              expect([list[0], first.said.total_size]).toEqual([list[0], 2]);
              expect(ids).toContain(first.rows[0]!.id);
              const next = await ask(list, word, String(first.said.next_page_token));
              expect([list[0], next.said.not_searched]).toEqual([list[0], undefined]);
              for (const [name] of String(first.said.not_searched).matchAll(/\b(?:list|search|lookup)_\w+/g))
                expect(tools.has(name)).toBe(true);
              if (list[0] !== "search_all") expect((await ask(list, "")).said.not_searched).toBeUndefined();
            }
            for (const list of others) {
              const { said, rows } = await ask(list, word);
              expect([list[0], rows]).toEqual([list[0], []]);
              const places = String(said.not_searched);
              const isNamed = own.some(([tool]) => places.includes(tool)) || /named types/.test(places);
              expect([list[0], places, isNamed]).toEqual([list[0], places, true]);
            }
          }
        },
      },
      {
        about: "says that what a container holds is not searched by its words, and where it is",
        as: ["analyst", "reader"],
        async prove(stage, person) {
          const word = newWord(stage);
          const object_id = await stage.world.make("Malware", { name: `Held ${word}`, confidence: 0 });
          const report = await stage.world.make("Report", {
            name: `Report of it ${stage.world.run}`,
            published: "2026-01-01T00:00:00.000Z",
            objects: [object_id],
          });
          for (const [tool, rows] of [
            ["list_reports", "reports"],
            ["list_containers", "containers"],
          ] as const) {
            const said = await personOf(stage, person).get<Record<string, unknown>>(tool, { query: word });
            expect([tool, said[rows] ?? []]).toEqual([tool, []]);
            expect(said.not_searched).toMatch(/list_entity_containers/);
          }
          const { containers } = await personOf(stage, person).get<{ containers: Row[] }>("list_entity_containers", {
            object_id,
          });
          expect(idsOf(containers)).toEqual([report]);
        },
      },
      {
        about: "says that indicators and observables are searched apart",
        as: ["analyst", "reader"],
        async prove(stage, person) {
          const word = newWord(stage);
          const value = `${word}.example`;
          const observable = await stage.world.observe("Domain-Name", { value });
          const indicator = await stage.world.make("Indicator", {
            name: `Of ${word}`,
            pattern: `[domain-name:value = '${value}']`,
            pattern_type: "stix",
          });
          const get = (tool: string, args: object) => personOf(stage, person).get<Record<string, unknown>>(tool, args);
          const observables = await get("list_observables", { query: word });
          const indicators = await get("list_indicators", { query: word });
          expect(idsOf(observables.observables as Row[])).toEqual([observable]);
          expect(idsOf(indicators.indicators as Row[])).toEqual([indicator]);
          expect(observables.not_searched).toMatch(/list_indicators/);
          expect(indicators.not_searched).toMatch(/list_observables.*lookup_ioc/);
          const both = await get("lookup_ioc", { value });
          expect([idsOf(both.matches as Row[]), idsOf(both.indicators as Row[])]).toEqual([[observable], [indicator]]);
        },
      },
    ],
  },
];
