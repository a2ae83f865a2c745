import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_TENANT, SECOND_TENANT } from "../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../support/platforms/aev.js";
import { type Exchange, readRecording } from "../../../support/platforms/recording.js";
import { differences, type Shape } from "../../../support/platforms/shape.js";
import { MAIL_CONTRACT, standIn } from "./stand-ins.js";

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

/** What the built-in platform knowingly answers otherwise, and why. */
function reasonOf({ name, as, path }: Exchange): string | undefined {
  if (name === "ListSimulations" && as === "granted" && path.endsWith("/exercises/search"))
    return "rows of simulations leave out what is empty: that which granted sees has what the recorded one had not";
  if (name === "DeleteScenario" && as === "launcher")
    return "a grant that is on what is deleted: the launcher has grants on three scenarios there and on one here";
  return undefined;
}

const compared = exchanges.filter((exchange) => reasonOf(exchange) === undefined);

/**
 * Of each inject's own contract: the contents of injects, and the fields of contracts, of which the first alone is
 * recorded; and the scores by type of expectation, of which the recorded simulations had none.
 */
const OF_DATA = new Set(["inject_content", "fields", "global_scores_by_expectation_type"]);

/** A shape without what differs from object to object. */
function plain(shape: Shape): Shape {
  if (Array.isArray(shape)) return (shape as readonly Shape[]).map(plain);
  if (typeof shape !== "object") return shape;
  return Object.fromEntries(
    Object.entries(shape).map(([name, one]) => [name, OF_DATA.has(name) ? "*" : plain(one as Shape)]),
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
  const stand = async (key: string, tenant: string, route: string) =>
    give(key, await standIn(stack, { tenant, as: "admin", path: `/api/tenants/${tenant}${route}` }));
  for (const [place, tenant] of [
    ["", DEFAULT_TENANT],
    ["other", SECOND_TENANT],
  ] as const) {
    const [scenario, run] = place === "" ? ["full", "running"] : ["other", "otherRun"];
    await stand(`${place}Call`, tenant, `/scenarios/${own.get(scenario)}/injects`);
    await stand(`${place}Step`, tenant, `/exercises/${own.get(run)}/injects`);
    await stand(`${place}Channel`, tenant, "/channels");
    await stand(`${place}Variable`, tenant, `/scenarios/${own.get(scenario)}/variables`);
    await stand(`${place}Payload`, tenant, "/payloads");
    await stand(`${place}Document`, tenant, "/documents");
    await stand(`${place}Team`, tenant, "/teams");
    give(`${place}Contract`, MAIL_CONTRACT);
    give(`${place}Injector`, MAIL_INJECTOR);
    await stand(`${place}Atomic`, tenant, "/atomic-testings");
  }
  await stand("late", DEFAULT_TENANT, `/scenarios/${own.get("twin0")}/injects`);
  give("otherPlanned", own.get("otherRun"));
  give("otherCanceled", own.get("otherRun"));
});
afterAll(() => stack.close());

/** What the truth tests' names for objects have in common. */
const KINDS: readonly (readonly [name: RegExp, key: string])[] = [
  [/^(?:twin|odd|truth|dotted)/, "scenario"],
  [/^other\d/, "other"],
  [/^(?:run\d|canceled)/, "simulation"],
  [/^(?:machine|multi)/, "machine"],
  [/^finding/, "finding"],
  [/^otherMachine/, "otherMachine"],
  [/^(?:call\d|mail|answer)$/, "Call"],
  [/^payload\d/, "Payload"],
  [/^channel$/, "Channel"],
  [/^variable$/, "Variable"],
  [/^team$/, "Team"],
  // The platform's launcher has grants on three.
  [/^doomed/, "twin0"],
];

const tenantIn = (path: string): string =>
  path.includes(SECOND_TENANT) || path.includes(recordedOf("second")) ? SECOND_TENANT : DEFAULT_TENANT;

/** What runs it. */
const MAIL_INJECTOR = "41b4dd55-5bd1-4614-98cd-9e3770753306";

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
  const isOfRun = /\/injects\/[^/]+\/targets\//.test(path);
  let done = "";
  for (const segment of path.split("/").slice(1)) {
    const name = ID.test(segment) ? nameOf(segment) : undefined;
    const isMissing = status === 404 || status === 403;
    const own = name === undefined ? segment : named(name);
    const isStep = done.endsWith("/injects") && (isOfRun || (as === "granted" && status === 200) || status === 403);
    const step = isStep ? stepIn(tenant) : undefined;
    done += `/${own ?? step ?? (isMissing ? randomUUID() : await standIn(stack, { tenant, as, path: done }))}`;
  }
  return done;
}

/** Targets are of those injects that are a step of a simulation, and granted sees no others. */
const stepIn = (tenant: string): string | undefined => own.get(tenant === SECOND_TENANT ? "otherStep" : "Step");

/** A query with ids of the built-in platform. */
function translatedQuery({ query = {}, path }: Exchange): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(translatedBody(value, path, name))]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
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
  [/_inject_id$|^injectId$/, "Inject"],
  [/_teams$/, "Team"],
  [/_documents$/, "Document"],
  [/_channel$/, "Channel"],
  [/_injector_contract$/, "Contract"],
  [/_injector$/, "Injector"],
];

/** A file on its way up is not recorded. */
function upload(): FormData {
  const form = new FormData();
  form.set("input", new Blob([JSON.stringify({ document_description: "Kept" })], { type: "application/json" }));
  form.set("file", new Blob(["Kept"], { type: "text/plain" }), `${randomUUID()}.txt`);
  return form;
}

function recordedOf(name: string): string {
  return Object.entries(header.ids ?? {}).find(([, { type }]) => type === name)?.[0] ?? name;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test("at least 95 of 100 exchanges are answered as they were by the real platform", () => {
  expect(header).toMatchObject({ platform: "OpenAEV", version: "2.4.0", exchanges: exchanges.length });
  expect(compared.length / exchanges.length).toBeGreaterThan(0.95);
});

describe("the built-in platform answers as the real one did", () => {
  for (const exchange of compared) {
    const { line, name, as, method, path, status, shape } = exchange;
    test(`line ${line}, ${name}: ${method} ${path} as ${as} is ${status}`, async () => {
      const sent = name === "UploadDocument" && method === "POST" ? upload() : translatedBody(exchange.body, path);
      const reply = await stack.ask(
        PEOPLE[as] ?? as,
        method,
        `${await translatedPath(exchange)}${translatedQuery(exchange)}`,
        sent,
      );
      expect(reply.status).toBe(status);
      if (shape !== undefined && status === 200) expect(differences(reply.body, plain(shape))).toEqual([]);
    });
  }
});
