import { describe, expect, test } from "vitest";
import { SERVERS } from "../../../../services/shared/platforms.js";
import { prepareEntries, type Seen } from "../../../../services/shared/tools/entries.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { takesTenant, toolsetsOf } from "../../../../services/shared/tools/narrowing.js";
import type { JsonSchema } from "../../../../services/shared/tools/schema.js";
import { TENANT_ARGUMENT } from "../../../../services/shared/tools/tenant.js";
import { BASIC, readTools, type Tool } from "../../../../services/shared/tools/tools.js";

// What a list of tools says in every view of every server, from the image: no
// name that is not there, and where each id comes from.

const ALL = readTools(readImage());

interface Entry {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

const SERVER = SERVERS.map((server) => {
  const own = ALL.filter((tool) => tool.server === server);
  return { server, own, entriesOf: prepareEntries(own) };
});
type OfServer = (typeof SERVER)[number];

/** What is listed of the tools that are kept; the URL alone leaves out the others. */
function listed(
  { own, entriesOf }: OfServer,
  keep: (tool: Tool, at: number) => boolean,
  more: Partial<Seen> = {},
): Entry[] {
  const tools = own.filter(keep);
  const leftOut = own.filter((tool) => !tools.includes(tool));
  const seen = { tools, leftOut, outputSchemas: false, isPinned: false, ...more };
  return entriesOf(seen).map((text) => JSON.parse(text) as Entry);
}

/** The descriptions in a schema, with the name of what each describes. */
function* descriptionsIn(schema: JsonSchema, name = ""): Iterable<readonly [name: string, text: string]> {
  if (schema.description !== undefined) yield [name, schema.description];
  for (const [own, inner] of Object.entries(schema.properties ?? {})) yield* descriptionsIn(inner, own);
  if (schema.items !== undefined) yield* descriptionsIn(schema.items, name);
  if (typeof schema.additionalProperties === "object") yield* descriptionsIn(schema.additionalProperties, name);
}

const textsOf = ({ description, inputSchema, outputSchema = {} }: Entry): string[] => [
  description,
  ...[...descriptionsIn(inputSchema), ...descriptionsIn(outputSchema)].map(([, text]) => text),
];

const MASKS: readonly [what: string, keep: (tool: Tool, at: number) => boolean][] = [
  ["what reads", ({ readOnly }) => readOnly],
  ["what writes", ({ readOnly }) => !readOnly],
  ["the basic tools", ({ toolsets }) => toolsets.includes(BASIC)],
  ["every other tool", (_, at) => at % 2 === 0],
  ["the others", (_, at) => at % 2 === 1],
  ["every seventh tool", (_, at) => at % 7 === 3],
  ["what lists nothing", ({ name }) => !/^(list|search)_/.test(name)],
];

describe.each(SERVER)("$server", (one) => {
  const names = new Set(one.own.map(({ name }) => name));

  test("whoever sees all tools reads what the API says", () => {
    const full = listed(one, () => true, { outputSchemas: true });
    expect(full).toEqual(JSON.parse(JSON.stringify(one.own.map(({ listing }) => listing))));
  });

  test.each([...MASKS, ...one.own.map((tool) => [`${tool.name} alone`, (other: Tool) => other === tool] as const)])(
    "%s: names no tool that is left out, and no text is broken",
    (_what, keep) => {
      for (const more of [{}, { outputSchemas: true, leftOut: [] }]) {
        const entries = listed(one, keep, more);
        const there = new Set(entries.map(({ name }) => name));
        for (const entry of entries) {
          for (const text of textsOf(entry)) {
            const strange = (text.match(/\w+/g) ?? []).filter((word) => names.has(word) && !there.has(word));
            expect([entry.name, text, strange]).toEqual([entry.name, text, []]);
            expect(text).not.toMatch(/ {2}|^[a-z]+,|[,;:(] ?[.]|^ | $|^$/);
          }
          expect(entry.description).toMatch(/[.!?]$/);
        }
      }
    },
  );

  test("in every toolset, each id says which tool here returns it, or which toolset does", () => {
    for (const toolset of toolsetsOf(one.own)) {
      const entries = listed(one, ({ toolsets }) => toolsets.includes(toolset));
      for (const entry of entries) {
        const before = new Map(descriptionsIn(one.own.find(({ name }) => name === entry.name)!.listing.inputSchema));
        for (const [name, text] of descriptionsIn(entry.inputSchema)) {
          if (!/_ids?$/.test(name) || !(before.get(name)?.match(/\w+/g) ?? []).some((word) => names.has(word)))
            continue;
          const tells = (text.match(/\w+/g) ?? []).some((word) => entries.some((other) => other.name === word));
          const told = /return such ids: toolset (\w+)/.exec(text)?.[1];
          expect([toolset, entry.name, name, tells || toolsetsOf(one.own).includes(told ?? "")]).toEqual([
            toolset,
            entry.name,
            name,
            true,
          ]);
        }
      }
    }
  });

  test("of a tool that the caller has no right to, no toolset is told", () => {
    const entries = listed(one, ({ name }) => !/^(list|search)_/.test(name), { leftOut: [] });
    expect(JSON.stringify(entries)).not.toContain("this URL leaves out");
  });

  test("who lists many views reads in each what others read who list it first", () => {
    const warm = prepareEntries(one.own);
    for (let i = 0; i < 32; i++) {
      const tools = one.own.filter((_, at) => Math.imul(at + 1, 2654435761 + i * 40503) & (1 << (8 + (i % 16))));
      const leftOut = one.own.filter((tool, at) => !tools.includes(tool) && (at + i) % 3 > 0);
      const seen = { tools, leftOut, outputSchemas: i % 2 === 0, isPinned: i % 3 === 0 };
      const alone = prepareEntries(one.own)(seen);
      expect(warm(seen)).toEqual(alone);
    }
  });

  test("with a pinned tenant no schema and no text names the argument", () => {
    const pinned = JSON.stringify(listed(one, () => true, { isPinned: true, outputSchemas: true }));
    expect(pinned).not.toContain(TENANT_ARGUMENT);
    if (!one.own.some(takesTenant))
      expect(JSON.parse(pinned)).toEqual(listed(one, () => true, { outputSchemas: true }));
  });

  test("the basic toolset has 12 to 18 tools, takes less than 6,000 tokens and needs no other toolset for its ids", () => {
    const entries = listed(one, ({ toolsets }) => toolsets.includes(BASIC));
    expect(entries.length).toBeGreaterThanOrEqual(12);
    expect(entries.length).toBeLessThanOrEqual(18);
    // Four bytes a token is what the tokenizers of current models come to on such JSON.
    expect(Buffer.byteLength(JSON.stringify({ tools: entries })) / 4).toBeLessThan(6_000);
    expect(
      entries.filter((entry) => JSON.stringify(entry).includes("this URL leaves out")).map(({ name }) => name),
    ).toEqual([]);
  });

  test("clients keep at most six tools in the context, all of them basic", () => {
    const kept = one.own.filter(({ listing }) => listing._meta?.["anthropic/alwaysLoad"] === true);
    expect(kept.length).toBeGreaterThanOrEqual(1);
    expect(kept.length).toBeLessThanOrEqual(6);
    expect(kept.filter(({ toolsets, readOnly }) => !readOnly || !toolsets.includes(BASIC))).toEqual([]);
  });

  test("no tool has the name of a toolset, since exclude= takes both", () => {
    expect(toolsetsOf(one.own).filter((toolset) => names.has(toolset))).toEqual([]);
    expect(one.own.filter(({ toolset }) => toolset === BASIC)).toEqual([]);
  });
});

test("what others lack changes no entry of those who lack nothing", () => {
  const [one] = SERVER as [OfServer];
  const before = listed(one, () => true);
  listed(one, (_, at) => at % 3 === 0);
  expect(listed(one, () => true)).toEqual(before);
});
