import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { personOf, refuses, type Stage, seenBy } from "../stage.js";
import { changedBy, fresh, object, refused, refusedWithoutTrace, target } from "./changed.js";

/** One who writes, and one who only reads: their objects differ. */
const WRITER = ["analyst"];
const BOTH = ["analyst", "reader"];

const get = <T>(stage: Stage, person: string, tool: string, args: object) => personOf(stage, person).get<T>(tool, args);
const notices = (result: unknown) =>
  ((result as { notices?: string[] })?.notices ??
    (result as { result?: { notices?: string[] } })?.result?.notices ??
    []) as string[];
let count = 0;
const domain = ({ world }: Stage) => `edge-${++count}.${world.run}.example`;
const patternOf = (value: string) => `[domain-name:value = '${value}']`;

/** Records a sighting of a new object at a place. */
async function sightingOf(stage: Stage): Promise<{ readonly id: string; readonly from: string }> {
  const from = await target(stage);
  const to = await stage.world.make("City", { name: fresh(stage, "City"), confidence: 0 });
  const query =
    "mutation($i: StixSightingRelationshipAddInput!) { made: stixSightingRelationshipAdd(input: $i) { id } }";
  const i = { fromId: from, toId: to, attribute_count: 1, confidence: 0 };
  return { id: (await stage.platform.need("root", query, { i })).made.id, from };
}

const blank = (tool: string, args: (stage: Stage) => object, words: RegExp) => ({
  tool,
  cases: [refused("edge: a blank text is refused", tool, args, words, WRITER)],
});

/** What the tools do at the edges of their arguments. */
export const edgeTruths: readonly Truth<Stage>[] = [
  {
    tool: "create_indicator",
    cases: [
      refused(
        "edge: what is no observable is refused before anything is written",
        "create_indicator",
        (stage) => ({
          name: fresh(stage, "On a malware"),
          pattern: patternOf(domain(stage)),
          observable_ids: [stage.world.ids.domain0, stage.world.ids.malware0],
        }),
        /observable_ids: .*is not an observable/,
        WRITER,
      ),
    ],
  },
  {
    tool: "list_observables",
    cases: [
      {
        about: "edge: an asterisk stands for anything",
        as: BOTH,
        async prove(stage, person) {
          const all = (await seenBy(stage, person).objects()).filter((one) => one.observable_value !== undefined);
          const ask = async (query: string) => get<Row>(stage, person, "list_observables", { query, page_size: 100 });
          expect((await ask("*")).total_size).toBe(all.length);
          for (const key of ["ip0", "domain0"]) {
            const value = all.find((one) => one.id === stage.world.ids[key])?.observable_value as string;
            const start = key === "ip0" ? value.slice(0, value.lastIndexOf(".") + 1) : value.slice(0, 4);
            const expected = all.filter((one) => one.observable_value.startsWith(start)).map(({ id }) => id);
            const found = (await ask(`${start}*`)).observables as Row[];
            expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(expected));
            expect(found.every((one) => String(one.value).includes(start.replace("*", "")))).toBe(true);
          }
        },
      },
    ],
  },
  {
    tool: "count_entities",
    cases: [
      {
        about: "edge: an asterisk counts everything",
        as: BOTH,
        async prove(stage, person) {
          const all = await seenBy(stage, person).objects();
          expect((await get<Row>(stage, person, "count_entities", { query: "*" })).count).toBe(all.length);
        },
      },
    ],
  },
  {
    tool: "add_objects_to_container",
    cases: [
      {
        about: "edge: a sighting is put in, found and taken out",
        as: WRITER,
        async prove(stage, person) {
          const { id, from } = await sightingOf(stage);
          const container_id = await stage.world.make("Grouping", {
            name: fresh(stage, "Grouping"),
            context: "unspecified",
            objects: [from],
            confidence: 0,
          });
          const both = { container_id, object_ids: [id] };
          expect((await get<Row>(stage, person, "check_container_membership", both)).not_held).toMatchObject([{ id }]);
          expect(await get<Row>(stage, person, "add_objects_to_container", both)).toMatchObject({ object_count: 2 });
          expect((await seenBy(stage, "root").contents(container_id))!.map((one) => one.id).sort()).toEqual(
            [from, id].sort(),
          );
          expect((await get<Row>(stage, person, "check_container_membership", both)).held).toMatchObject([{ id }]);
          const one = { container_id, object_id: id };
          expect(await get<Row>(stage, person, "remove_object_from_container", one)).toMatchObject({ removed: true });
          const note = await changedBy(stage, person, "create_note", { object_ids: [id], content: "Seen." });
          expect([note.refusal, notices(note.result)]).toEqual(["", []]);
          await refuses(stage, person, "get_entity", { object_id: id }, /is a sighting, not an object/);
        },
      },
    ],
  },
  {
    tool: "delete_entity",
    cases: [
      refused(
        "edge: a relationship is not said to be unknown",
        "delete_entity",
        ({ world }) => ({ object_id: world.ids.inside }),
        /is a relationship, not an object/,
        WRITER,
      ),
    ],
  },
  {
    tool: "update_observable",
    cases: [
      {
        about: "edge: says which indicators get the score",
        as: WRITER,
        async prove(stage, person) {
          const observable_id = await stage.world.observe("Domain-Name", { value: domain(stage) });
          const name = fresh(stage, "Indicator on it");
          const more = { pattern: patternOf(domain(stage)), pattern_type: "stix", x_opencti_score: 70, confidence: 0 };
          const indicator = await stage.world.make("Indicator", { name, ...more });
          await stage.world.relate(indicator, "based-on", observable_id);
          const args = { observable_id, score: 15 };
          const { result, refusal, after } = await changedBy(stage, person, "update_observable", args);
          expect(refusal).toBe("");
          expect((after.get(indicator) as Row).x_opencti_score).toBe(15);
          expect(notices(result).join()).toContain(`${name} (id ${indicator}) from 70 to 15`);
        },
      },
      {
        about: "edge: says what was changed if an indicator is refused",
        as: WRITER,
        async prove(stage, person) {
          const observable_id = await stage.world.observe("Domain-Name", { value: domain(stage) });
          const more = { pattern: patternOf(domain(stage)), pattern_type: "stix", confidence: 100 };
          const indicator = await stage.world.make("Indicator", { name: fresh(stage, "Sure"), ...more });
          await stage.world.relate(indicator, "based-on", observable_id);
          const { refusal, after } = await changedBy(stage, person, "update_observable", { observable_id, score: 16 });
          const isChanged = (after.get(observable_id) as Row).x_opencti_score === 16;
          expect(refusal.includes("a part of the change was made")).toBe(refusal !== "" && isChanged);
        },
      },
    ],
  },
  blank("create_report", () => ({ name: "   " }), /name: must/),
  blank("create_note", ({ world }) => ({ object_ids: [world.ids.malware0], content: "  \n" }), /content: must/),
  {
    tool: "add_external_reference",
    cases: [
      refused(
        "edge: what is no web address is refused",
        "add_external_reference",
        ({ world }) => ({ object_id: world.ids.malware0, source_name: "Odd", url: "javascript:alert(1)" }),
        /url: /,
        WRITER,
      ),
    ],
  },
  {
    tool: "create_entity",
    cases: [
      {
        about: "edge: of five creations at once one says that it created",
        as: WRITER,
        async prove(stage, person) {
          const args = { type: "Malware", name: fresh(stage, "Raced") };
          const said = await Promise.all(
            Array.from({ length: 5 }, (_, i) =>
              personOf(stage, person).ask("create_entity", { ...args, description: `Text ${i}` }),
            ),
          );
          const refusals = said.map(({ refusal }) => refusal).filter((refusal) => refusal !== "");
          expect(refusals).toHaveLength(4);
          for (const refusal of refusals) expect(refusal).toMatch(/already has this name/);
          const named = (await seenBy(stage, "root").objects()).filter((one) => one.representative.main === args.name);
          expect(named).toHaveLength(1);
        },
      },
    ],
  },
  {
    tool: "create_observable",
    cases: [
      {
        about: "edge: one address in two spellings is one observable, and looked up by both",
        as: WRITER,
        async prove(stage, person) {
          const part = Number.parseInt(stage.world.run.slice(-4), 36).toString(16).slice(-4);
          const args = { type: "IPv6-Addr", value: `2001:0DB8:0:0:0:0:0:${part}` };
          const made = await changedBy(stage, person, "create_observable", args);
          const id = (made.result!.observable as Row).id;
          const short = `2001:db8::${Number.parseInt(part, 16).toString(16)}`;
          expect((made.after.get(id) as Row).observable_value).toBe(short);
          await refusedWithoutTrace(stage, person, "create_observable", { ...args, value: short }, new RegExp(id));
          for (const value of [args.value, short]) {
            const looked = await get<{ matches?: Row[] }>(stage, person, "lookup_ioc", { value });
            expect((looked.matches ?? []).map((match) => match.id)).toEqual([id]);
          }
        },
      },
    ],
  },
  {
    tool: "lookup_ioc",
    cases: [
      {
        about: "edge: a domain is found with the full stop of the root and with escapes",
        as: BOTH,
        async prove(stage, person) {
          const plain = `c2-0.${stage.world.run}.example`;
          for (const value of [plain, `${plain}.`, plain.replaceAll(".", "\\.")]) {
            const { matches = [] } = await get<{ matches?: Row[] }>(stage, person, "lookup_ioc", { value });
            expect([value, matches.map(({ id }) => id)]).toEqual([value, [stage.world.ids.domain0]]);
          }
        },
      },
    ],
  },
  {
    tool: "get_entity",
    cases: [
      {
        about: "edge: has the other names, the confidence, an opinion's reasons, and no text as description",
        as: WRITER,
        async prove(stage, person) {
          const name = fresh(stage, "Named");
          const id = await target(stage, { aliases: [`${name} alias`], confidence: 20 });
          const read = await get<Row>(stage, person, "get_entity", { object_id: id });
          expect([read.aliases, read.confidence]).toEqual([[`${name} alias`], 20]);
          const explanation = "Seen elsewhere.";
          const opinion = await stage.world.make("Opinion", { opinion: "agree", explanation, objects: [id] });
          expect((await get<Row>(stage, person, "get_entity", { object_id: opinion })).object).toMatchObject({
            description: explanation,
          });
          const content = "<p>The whole text.</p>";
          const input = { name: fresh(stage, "Report"), published: "2026-01-01T00:00:00.000Z", content };
          const report = await stage.world.make("Report", input);
          const shown = (await get<Row>(stage, person, "get_entity", { object_id: report })).object as Row;
          expect(shown.description ?? "").toBe("");
        },
      },
    ],
  },
  {
    tool: "merge_entities",
    cases: [
      {
        about: "edge: says which description is lost",
        as: ["administrator"],
        async prove(stage, person) {
          const [kept, lost] = [
            await target(stage, { description: "The kept text." }),
            await target(stage, { description: "The lost text." }),
          ];
          const args = { target_id: kept, source_ids: [lost] };
          const { result, refusal } = await changedBy(stage, person, "merge_entities", args);
          expect([refusal, object(result).description]).toEqual(["", "The kept text."]);
          expect(notices(result).join()).toContain("is lost: The lost text.");
        },
      },
    ],
  },
  {
    tool: "get_entity_distribution",
    cases: [
      {
        about: "edge: counts by what list_filter_keys says, and by nothing else; types are spelt as types takes them",
        as: WRITER,
        async prove(stage, person) {
          for (const type of ["Malware", "Report", "Domain-Name"]) {
            const { keys } = await get<{ keys: Row[] }>(stage, person, "list_filter_keys", { type });
            for (const { name, countable } of keys) {
              const args = { field: name, types: [type] };
              const { refusal } = await personOf(stage, person).ask("get_entity_distribution", args);
              expect([type, name, refusal === ""]).toEqual([type, name, countable === true]);
            }
          }
          const field = "x_opencti_main_observable_type";
          const of = await get<{ buckets: Row[] }>(stage, person, "get_entity_distribution", {
            field,
            types: ["Indicator"],
          });
          const named = of.buckets.map(({ name }) => String(name)).filter((name) => name.toLowerCase() !== "unknown");
          expect(named).toContain("Domain-Name");
          for (const name of named) await get(stage, person, "search_all", { query: "*", types: [name], page_size: 1 });
        },
      },
    ],
  },
  {
    tool: "list_containers",
    cases: [
      {
        about: "edge: by name, notes follow the others by their titles",
        as: BOTH,
        async prove(stage, person) {
          const rows: Row[] = [];
          let page_token = "";
          do {
            const args = { types: ["Report", "Note", "Opinion"], order: "name", page_size: 40, page_token };
            const page = await get<Row>(stage, person, "list_containers", args);
            rows.push(...((page.containers ?? []) as Row[]));
            page_token = String(page.next_page_token ?? "");
          } while (page_token !== "");
          const types = ["Report", "Note", "Opinion"];
          const seen = (await seenBy(stage, person).objects()).filter((one) => types.includes(one.entity_type));
          expect(rows.map(({ id }) => id).toSorted()).toEqual(seen.map(({ id }) => id).toSorted());
          const order = rows.map(({ type }) => types.indexOf(String(type)));
          expect(order).toEqual(order.toSorted());
          const titles = rows.filter(({ type }) => type === "Note").map(({ name }) => String(name ?? "").toLowerCase());
          const titled = titles.filter((title) => title !== "");
          expect(titled).toEqual(titled.toSorted());
        },
      },
    ],
  },
  {
    tool: "get_attack_matrix",
    cases: [
      {
        about: "edge: an unknown kill chain is refused as one",
        as: WRITER,
        prove: (stage, person) =>
          refuses(stage, person, "get_attack_matrix", { kill_chain: "none of these" }, /^kill_chain: no such kill/),
      },
    ],
  },
];
