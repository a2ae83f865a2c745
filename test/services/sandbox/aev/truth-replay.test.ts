import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_TENANT, SECOND_TENANT } from "../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../support/platforms/aev.js";
import { type Exchange, readRecording } from "../../../support/platforms/recording.js";
import { differences, type Shape } from "../../../support/platforms/shape.js";
import { standIn } from "./stand-ins.js";

// What the tools asked of the real platform in the run of the truth tests, and
// what it answered: the built-in platform answers the same exchanges alike.

const { header, exchanges } = readRecording("aev-truth");

/** Who stands for whom. */
const PEOPLE: Readonly<Record<string, string>> = {
  administrator: "admin",
  analyst: "planner",
  reader: "reader",
  granted: "watcher",
  launcher: "launcher",
  outsider: "outsider",
  both: "both",
  nobody: "nobody",
  stranger: "stranger",
};

/** What the built-in platform knowingly answers otherwise, by the line of the recording. */
const OTHERWISE: ReadonlyMap<number, string> = new Map([
  ...[44, 45, 46, 47, 49, 50].map(
    (line) =>
      [line, "rows of simulations leave out what is empty: none of those recorded here had a category"] as const,
  ),
  [342, "a grant that was on what is deleted: here nothing has been deleted before"],
]);

/** Of each inject's own contract: the contents of injects, and the fields of contracts, of which the first alone is recorded. */
const OF_CONTRACTS = new Set(["inject_content", "fields"]);

/** A shape without what differs from contract to contract. */
function plain(shape: Shape): Shape {
  if (Array.isArray(shape)) return (shape as readonly Shape[]).map(plain);
  if (typeof shape !== "object") return shape;
  return Object.fromEntries(
    Object.entries(shape).map(([name, one]) => [name, OF_CONTRACTS.has(name) ? "*" : plain(one as Shape)]),
  );
}

let stack: AevHarness;
/** The ids that stand for recorded ones, by the names that the truth tests have for them. */
const own = new Map<string, string>([
  ["first", DEFAULT_TENANT],
  ["second", SECOND_TENANT],
]);

const rowsOf = async (person: string, path: string): Promise<Record<string, string>[]> => {
  const { body } = await stack.ask(person, "POST", path, { size: 1000 });
  return (body as { content: Record<string, string>[] }).content;
};

beforeAll(async () => {
  stack = await startAev();
  const first = `/api/tenants/${DEFAULT_TENANT}`;
  const second = `/api/tenants/${SECOND_TENANT}`;
  const give = (key: string, id: string | undefined) => own.set(key, id ?? randomUUID());
  give("full", (await rowsOf("watcher", `${first}/scenarios/search`))[0]?.scenario_id);
  give("running", (await rowsOf("watcher", `${first}/exercises/search`))[0]?.exercise_id);
  give("twin0", (await rowsOf("launcher", `${first}/scenarios/search`))[0]?.scenario_id);
  const scenarios = await rowsOf("reader", `${first}/scenarios/search`);
  const taken = [own.get("full"), own.get("twin0")];
  give("scenario", scenarios.find(({ scenario_id: id }) => !taken.includes(id))?.scenario_id);
  const runs = await rowsOf("reader", `${first}/exercises/search`);
  give("simulation", runs.find(({ exercise_id: id }) => id !== own.get("running"))?.exercise_id);
  give("other", (await rowsOf("outsider", `${second}/scenarios/search`))[0]?.scenario_id);
  give("otherRun", (await rowsOf("outsider", `${second}/exercises/search`))[0]?.exercise_id);
  const machines = await rowsOf("reader", `${first}/endpoints/search`);
  give("machine", machines.find(({ asset_name: name }) => name === "golden-image")?.asset_id);
  give("otherMachine", (await rowsOf("outsider", `${second}/endpoints/search`))[0]?.asset_id);
  const tags = await rowsOf("reader", `${first}/tags/search`);
  for (const [i, key] of ["red", "blue", "green"].entries()) give(key, tags[i]?.tag_id);
  give("Tag", own.get("red"));
  give("Machine", own.get("machine"));
  const [finding] = await rowsOf("reader", `${first}/findings/search`);
  give("finding", finding?.finding_id);
  const atomics = await rowsOf("reader", `${first}/atomic-testings/search`);
  give("atomic", atomics[0]?.inject_id);
  give("Inject", own.get("atomic"));
  give("otherTag", (await rowsOf("outsider", `${second}/tags/search`))[0]?.tag_id);
});
afterAll(() => stack.close());

/** What the truth tests' names for objects have in common. */
const KINDS: readonly (readonly [name: RegExp, key: string])[] = [
  [/^(?:twin|odd|truth|dotted)/, "scenario"],
  [/^other\d/, "other"],
  [/^(?:run\d|canceled)/, "simulation"],
  [/^(?:machine|multi)/, "machine"],
  [/^finding/, "finding"],
];

const tenantIn = (path: string): string =>
  path.includes(SECOND_TENANT) || path.includes(recordedOf("second")) ? SECOND_TENANT : DEFAULT_TENANT;

/** The object that stands for one which the truth tests have a name for. */
const named = (name: string): string | undefined =>
  own.get(name) ?? own.get(KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? "");

const nameOf = (id: string): string => header.ids?.[id]?.type ?? "another";

/**
 * A path with the built-in platform's ids for the recorded ones. Of what was
 * made in the run no more is known than what became of it: it is made, or is
 * one that there never was.
 */
async function translatedPath({ as, path, status }: Exchange): Promise<string> {
  const tenant = tenantIn(path);
  let done = "";
  for (const segment of path.split("/").slice(1)) {
    const name = ID.test(segment) ? nameOf(segment) : undefined;
    const isMissing = status === 404 || status === 403;
    const own = name === undefined ? segment : named(name);
    done += `/${own ?? (isMissing ? randomUUID() : await standIn(stack, { tenant, as, path: done }))}`;
  }
  return done;
}

/** A body with ids of the built-in platform: by the field where the truth tests have no name for them. */
function translatedBody(value: unknown, path: string, field = ""): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((one) => translatedBody(one, path, field)))];
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, translatedBody(one, path, name)]));
  }
  if (typeof value !== "string" || !ID.test(value)) return value;
  const key = FIELDS.find(([pattern]) => pattern.test(field))?.[1];
  const place = tenantIn(path) === SECOND_TENANT ? "other" : "";
  return named(nameOf(value)) ?? (key === undefined ? undefined : own.get(`${place}${key}`)) ?? value;
}

/** What stands for objects without a name, by the field that names them. */
const FIELDS: readonly (readonly [field: RegExp, key: string])[] = [
  [/_tags$/i, "Tag"],
  [/_assets$|^$/, "Machine"],
  [/_inject_id$/, "Inject"],
];

function recordedOf(name: string): string {
  return Object.entries(header.ids ?? {}).find(([, { type }]) => type === name)?.[0] ?? name;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test("at least 95 of 100 exchanges are answered as they were by the real platform", () => {
  expect(header).toMatchObject({ platform: "OpenAEV", version: "2.4.0", exchanges: exchanges.length });
  expect(OTHERWISE.size / exchanges.length).toBeLessThan(0.05);
});

describe("the built-in platform answers as the real one did", () => {
  for (const exchange of exchanges) {
    const { line, name, as, method, path, status, shape } = exchange;
    if (OTHERWISE.has(line)) continue;
    test(`line ${line}, ${name}: ${method} ${path} as ${as} is ${status}`, async () => {
      const sent = exchange.body === undefined ? undefined : translatedBody(exchange.body, path);
      const reply = await stack.ask(PEOPLE[as] ?? as, method, await translatedPath(exchange), sent);
      expect(reply.status).toBe(status);
      if (shape !== undefined && status === 200) expect(differences(reply.body, plain(shape))).toEqual([]);
    });
  }
});
