import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type Role, rightsOf } from "../../../../../services/shared/roles/role.js";
import { compileDecode } from "../../../../../services/shared/tools/codec/decode.js";
import { compileEncode } from "../../../../../services/shared/tools/codec/encode.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { toolsetsOf, WHOLE } from "../../../../../services/shared/tools/narrowing.js";
import { readTools } from "../../../../../services/shared/tools/tools.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";
import { GRC_CALLS, outcomeOf, type Told } from "../../../../support/platforms/grc-calls.js";

// The role of a toolset does what its tools offer, and no right of it is too much: people who have
// exactly this role call every tool, and without any one right some call is refused, or finds less.

const tools = readTools(readImage()).filter(({ server }) => server === "grc");
const NORTHWIND = seededId("folder:northwind");

let harness: GrcHarness;
beforeAll(async () => {
  harness = await startGrc("bearer");
});
afterAll(() => harness.close());

async function call(name: string, args: object, person: string): Promise<Told> {
  const { method, result } = tools.find((tool) => tool.name === name)!;
  const request = compileDecode(method.input)(args as JsonObject);
  return JSON.parse(compileEncode(result)(await harness.call(method as DescMethodUnary, request as never, person)));
}

const prepare = (name: string, args: object = {}) => call(name, args, "officer");

let people = 0;
function personWith(rights: readonly string[]): string {
  const person = `role-${++people}`;
  harness.sandbox.admit(`${person}@sallyport.example`, NORTHWIND, rights);
  return person;
}

/** What each call of a tool comes to. */
async function outcomesOf(name: string, person: string): Promise<string[]> {
  const outcomes: string[] = [];
  for (const args of await GRC_CALLS[name]!(prepare)) {
    outcomes.push(
      await call(name, args, person).then(outcomeOf, (error: unknown) => {
        const { code, rawMessage } = ConnectError.from(error);
        return `${Code[code]}: ${rawMessage}`;
      }),
    );
  }
  return outcomes;
}

const roles: readonly (readonly [string, Role])[] = toolsetsOf(tools).flatMap((toolset) =>
  [true, false].map((readOnly) => {
    const role = rightsOf("grc", tools, { ...WHOLE, readOnly, toolsets: new Set([toolset]) });
    return [`${toolset}${readOnly ? ", to read" : ""}`, role] as const;
  }),
);

const hasCalls = (name: string): boolean => GRC_CALLS[name] !== undefined;

test("the calls are of tools that there are, and of most of them", () => {
  const names = tools.map(({ name }) => name);
  expect(Object.keys(GRC_CALLS).filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter(hasCalls).length / names.length).toBeGreaterThan(0.9);
});

test.each(roles)("%s: the role does what its tools offer", async (_, { tools: names, rights }) => {
  const person = personWith(rights.map(({ id }) => id));
  for (const name of names.filter(hasCalls)) {
    for (const outcome of await outcomesOf(name, person))
      expect([name, outcome]).toEqual([name, expect.stringMatching(/^answered$|^[1-9]\d* rows$/)]);
  }
});

test.each(roles.filter(([, { rights }]) => rights.length > 1))("%s: no right is too much", async (_, { rights }) => {
  const whole = personWith(rights.map(({ id }) => id));
  for (const { id, tools: all } of rights) {
    const needing = all.filter(hasCalls);
    if (needing.length === 0) continue;
    const person = personWith(rights.map((right) => right.id).filter((one) => one !== id));
    const differing: string[] = [];
    for (const name of needing) {
      const [without, withAll] = [await outcomesOf(name, person), await outcomesOf(name, whole)];
      if (without.join() !== withAll.join()) differing.push(name);
    }
    expect([id, differing.length]).not.toEqual([id, 0]);
  }
});
