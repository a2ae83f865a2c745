import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_TENANT, SECOND_TENANT } from "../../../../services/sandbox/aev/world.js";
import { emailOf, type Stack, startStack } from "../../platform-proxy/platforms/aev/harness.js";
import { differences, RECORDING, type RecordedExchange } from "./recorded.js";
import { TOKEN_KINDS } from "./token-kinds.js";

// The sandbox is held to what the real platform answered: the same kinds of
// exchange, as the same kinds of user, in the same order.

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What the sandbox knowingly does not play, by the line of the recording. */
const NOT_PLAYED = new Set([
  // A simulation that cannot be deleted, of a copied scenario: copying is no route of the sandbox.
  766,
]);

let stack: Stack;
/** Objects of the sandbox by the recorded ids that they stand for. */
const standIns = new Map<string, string>();

beforeAll(async () => {
  stack = await startStack();
  const rows = async (person: string, path: string): Promise<Record<string, never>[]> => {
    const { body } = await stack.ask(person, "POST", path, {
      size: 100,
      sorts: path.includes("tags") ? [{ property: "tag_name" }] : [],
    });
    return (body as { content: Record<string, never>[] }).content;
  };
  const standIn = (recorded: string, own: string | undefined) => standIns.set(recorded, own ?? "");
  const [watched] = await rows("observer", "/api/scenarios/search");
  const [planned] = await rows("granted", "/api/scenarios/search");
  const other = (await rows("planner", "/api/scenarios/search")).find(
    (row) => row.scenario_id !== watched?.scenario_id && row.scenario_id !== planned?.scenario_id,
  );
  const [foreign] = await rows("outsider", `/api/tenants/${SECOND_TENANT}/scenarios/search`);
  standIn("7afcd113-a838-4ade-a5c5-9882ee2deba6", watched?.scenario_id);
  standIn("745a61c7-5985-40b2-9e86-3a47439088df", planned?.scenario_id);
  standIn("7a0cc024-1411-47d0-b004-b93973c1bc17", other?.scenario_id);
  standIn("c0bfc015-c3ad-4811-8732-2bec116732a7", foreign?.scenario_id);
  const { body } = await stack.ask("planner", "GET", `/api/scenarios/${watched?.scenario_id}`);
  const [simulation] = (body as { scenario_exercises: string[] }).scenario_exercises;
  standIn("70ea73cc-948e-4c90-9aca-2ef02992d95a", simulation);
  const tags = await rows("planner", "/api/tags/search");
  for (const [i, tag] of RECORDED_TAGS.entries()) standIn(tag, tags[i]?.tag_id);
  const [endpoint] = await rows("planner", "/api/endpoints/search");
  standIn("f575f025-07a9-4c2a-aa1c-953d5092246e", endpoint?.asset_id);
  const [finding] = await rows("planner", "/api/findings/search");
  const source = finding?.finding_inject as { inject_id: string } | undefined;
  standIn("e090771e-2e5f-49b7-9801-5e35b4fea976", source?.inject_id);
  for (const id of [DEFAULT_TENANT, SECOND_TENANT, UNKNOWN]) standIn(id, id);
});
afterAll(() => stack.close());

const RECORDED_TAGS = [
  "fd8dbc94-e4b3-40fc-914a-ad50b5815450",
  "14464892-4c77-46a5-bd10-43daa13143c9",
  "9d120636-9b91-4e3f-be92-ea69af5ca1f3",
];

test("a third of all that was recorded is replayed", () => {
  const played = RECORDING.exchanges.filter(({ line }) => !NOT_PLAYED.has(line));
  expect(RECORDING.recorded).toBe(930);
  expect(played.length).toBeGreaterThanOrEqual(310);
});

describe("the sandbox answers as the platform did", () => {
  let cookie: string | undefined;
  for (const exchange of RECORDING.exchanges) {
    const { line, method, path, as, status, tool, note } = exchange;
    if (NOT_PLAYED.has(line)) continue;
    test(`line ${line}, ${tool}: ${method} ${path} as ${as} is ${status}${note === undefined ? "" : `, ${note}`}`, async () => {
      const target = await withStandIns(exchange, path);
      const headers = await headersOf(exchange, cookie);
      const reply = await fetch(`${stack.sandbox.url}${target}${queryOf(exchange)}`, {
        method,
        headers,
        ...(exchange.body !== undefined && {
          body:
            typeof exchange.body === "string"
              ? exchange.body
              : await withStandIns(exchange, JSON.stringify(exchange.body)),
        }),
      });
      cookie ??= reply.headers.get("set-cookie")?.split(";", 1)[0];
      const text = await reply.text();
      expect({ status: reply.status, text: reply.status === status ? "" : text }).toEqual({ status, text: "" });
      const body: unknown = text === "" ? undefined : text.startsWith("<") ? text : JSON.parse(text);
      expect(differences(body, RECORDING.shapes[exchange.shape] ?? "*")).toEqual([]);
      if (exchange.made !== undefined) {
        const { scenario_id, exercise_id } = body as { scenario_id?: string; exercise_id?: string };
        standIns.set(exchange.made, scenario_id ?? exercise_id ?? "");
      }
    });
  }
});

async function headersOf(
  { tool, as, headers = {}, body }: RecordedExchange,
  cookie = "",
): Promise<Record<string, string>> {
  const given = {
    accept: "application/json",
    ...(body !== undefined && { "content-type": "application/json" }),
    ...headers,
    ...(headers.cookie?.startsWith("JSESSIONID") && { cookie }),
  };
  delete (given as Record<string, string>).authorization;
  const authorization = await authorizationOf(tool, as);
  return authorization === undefined ? given : { ...given, authorization };
}

let lastKey: string | undefined;

async function authorizationOf(tool: string, as: string): Promise<string | undefined> {
  const { issuer, sandbox } = stack;
  if (tool === "session: the cookie alone") return undefined;
  if (tool === "session: cookie, expired bearer") return TOKEN_KINDS["expired 1 s"]?.(issuer, sandbox.url);
  if (!tool.startsWith("jwt: ")) return `Bearer ${await issuer.token(emailOf(as), sandbox.url)}`;
  const kind = tool.slice("jwt: ".length);
  // A token of the key that is withdrawn, made while it was there.
  if (kind.startsWith("withdrawn kid")) {
    if (lastKey === undefined) throw new Error("no token of the first key was kept");
    if (kind === "withdrawn kid while cached") issuer.withdraw("key-1");
    return lastKey;
  }
  const make = TOKEN_KINDS[kind];
  if (make === undefined) throw new Error(`no token of the kind "${kind}"`);
  const value = await make(issuer, sandbox.url);
  if (kind === "no exp") lastKey = value;
  return value;
}

function queryOf({ query }: RecordedExchange): string {
  const pairs = Object.entries(query ?? {}).map(([name, value]): [string, string] => [name, String(value)]);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

/** Puts the sandbox's ids for the recorded ones; makes an object where none stands in yet. */
async function withStandIns(exchange: RecordedExchange, text: string): Promise<string> {
  for (const id of text.match(UUID) ?? []) {
    if (!standIns.has(id)) standIns.set(id, await madeFor(exchange, id));
  }
  return text.replace(UUID, (id) => standIns.get(id) ?? id);
}

/** A scenario with people and attacks, with media pressure or without. */
async function scenarioWith(media: boolean): Promise<string> {
  const { body } = await stack.ask("planner", "POST", "/api/scenarios/search", { size: 100 });
  for (const { scenario_id } of (body as { content: { scenario_id: string }[] }).content) {
    const injects = await stack.ask("planner", "POST", `/api/scenarios/${scenario_id}/injects/simple`, { size: 100 });
    const types = (injects.body as { content: { inject_type: string }[] }).content.map((row) => row.inject_type);
    if (types.includes("openaev_channel") === media && types.includes("openaev_implant")) return scenario_id;
  }
  throw new Error("no scenario of that kind");
}

async function madeFor({ path, note = "", tool }: RecordedExchange, id: string): Promise<string> {
  const makes = async (route: string, body?: unknown): Promise<Record<string, string>> =>
    (await stack.ask("planner", "POST", `/api${route}`, body)).body as Record<string, string>;
  if (path.includes(`/scenarios/${id}`))
    return (await makes("/scenarios", { scenario_name: "Stand-in" })).scenario_id ?? "";
  if (!path.includes(`/exercises/${id}`)) return id;
  if (/delete|read back|a while later/.test(`${tool} ${note}`) && !note.includes("empty")) {
    const scenario = await scenarioWith(note.includes("article"));
    return (await makes(`/scenarios/${scenario}/exercise/running`)).exercise_id ?? "";
  }
  return (await makes("/exercises", { exercise_name: "Stand-in" })).exercise_id ?? "";
}
