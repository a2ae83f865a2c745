import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_TENANT, SECOND_TENANT } from "../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../support/platforms/aev.js";
import { emailOf } from "../../../support/platforms/harness.js";
import { type Exchange, readRecording } from "../../../support/platforms/recording.js";
import { Replay } from "../../../support/platforms/replay.js";
import { TOKEN_KINDS } from "../../../support/platforms/token-kinds.js";

// The sandbox is held to what the real platform answered: the same kinds of
// exchange, as the same kinds of user, in the same order.

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const { header, exchanges } = readRecording("aev");

/** What the sandbox knowingly does not play, by the line of the recording. */
const NOT_PLAYED = new Set([
  // A simulation that cannot be deleted, of a copied scenario: copying is no route of the sandbox.
  766,
]);

let stack: AevHarness;
let replay: Replay;

beforeAll(async () => {
  stack = await startAev();
  replay = new Replay({ url: stack.sandbox.url, standIn, authorize, headers: headersOf });
  const rows = async (person: string, path: string): Promise<Record<string, never>[]> => {
    const { body } = await stack.ask(person, "POST", path, {
      size: 100,
      sorts: path.includes("tags") ? [{ property: "tag_name" }] : [],
    });
    return (body as { content: Record<string, never>[] }).content;
  };
  const stands = (recorded: string, own: string | undefined) => replay.ids.set(recorded, own ?? "");
  const [watched] = await rows("observer", "/api/scenarios/search");
  const [planned] = await rows("granted", "/api/scenarios/search");
  const other = (await rows("planner", "/api/scenarios/search")).find(
    (row) => row.scenario_id !== watched?.scenario_id && row.scenario_id !== planned?.scenario_id,
  );
  const [foreign] = await rows("outsider", `/api/tenants/${SECOND_TENANT}/scenarios/search`);
  stands("7afcd113-a838-4ade-a5c5-9882ee2deba6", watched?.scenario_id);
  stands("745a61c7-5985-40b2-9e86-3a47439088df", planned?.scenario_id);
  stands("7a0cc024-1411-47d0-b004-b93973c1bc17", other?.scenario_id);
  stands("c0bfc015-c3ad-4811-8732-2bec116732a7", foreign?.scenario_id);
  const { body } = await stack.ask("planner", "GET", `/api/scenarios/${watched?.scenario_id}`);
  const [simulation] = (body as { scenario_exercises: string[] }).scenario_exercises;
  stands("70ea73cc-948e-4c90-9aca-2ef02992d95a", simulation);
  const tags = await rows("planner", "/api/tags/search");
  for (const [i, tag] of RECORDED_TAGS.entries()) stands(tag, tags[i]?.tag_id);
  const [endpoint] = await rows("planner", "/api/endpoints/search");
  stands("f575f025-07a9-4c2a-aa1c-953d5092246e", endpoint?.asset_id);
  const [finding] = await rows("planner", "/api/findings/search");
  const source = finding?.finding_inject as { inject_id: string } | undefined;
  stands("e090771e-2e5f-49b7-9801-5e35b4fea976", source?.inject_id);
  for (const id of [DEFAULT_TENANT, SECOND_TENANT, UNKNOWN]) stands(id, id);
});
afterAll(() => stack.close());

const RECORDED_TAGS = [
  "fd8dbc94-e4b3-40fc-914a-ad50b5815450",
  "14464892-4c77-46a5-bd10-43daa13143c9",
  "9d120636-9b91-4e3f-be92-ea69af5ca1f3",
];

test("a third of all that was recorded is replayed", () => {
  const played = exchanges.filter(({ line }) => !NOT_PLAYED.has(line));
  expect(header.recorded).toBe(930);
  expect(exchanges.length).toBe(319);
  expect(played.length).toBeGreaterThanOrEqual(310);
});

describe("the sandbox answers as the platform did", () => {
  for (const exchange of exchanges) {
    const { line, method, path, as, status, name, note } = exchange;
    if (NOT_PLAYED.has(line)) continue;
    test(`line ${line}, ${name}: ${method} ${path} as ${as} is ${status}${note === undefined ? "" : `, ${note}`}`, async () => {
      const { differences, headers } = await replay.run(exchange);
      session ??= headers.get("set-cookie")?.split(";", 1)[0];
      expect(differences).toEqual([]);
    });
  }
});

/** The session cookie that the sandbox gave first. */
let session: string | undefined;

function headersOf({ headers = {} }: Exchange): Record<string, string> {
  return {
    accept: headers.accept ?? "application/json",
    ...(headers.cookie?.startsWith("JSESSIONID") && { cookie: session ?? "" }),
  };
}

/** A token of the first key, kept for when that is withdrawn. */
let kept: string | undefined;

/** Who the token of a kind was for, where it was not for the user of the exchange. */
const FOR: Readonly<Record<string, string>> = {
  "unknown email": "stranger",
  "email of a player": "paula",
  "mixed-case account, lower-case claim": "planner",
};

/** Kinds of tokens that were recorded under names of their own. */
const KINDS: Readonly<Record<string, string>> = {
  "good, admin": "good",
  "good, no groups": "good",
  "unknown email": "good",
  "email of a player": "good",
  "mixed-case account, lower-case claim": "good",
  "lower-case bearer, write": "bearer in lower case",
  "new kid published after the key set was cached": "good",
  "unknown kid makes it refetch": "unknown kid",
};

async function authorize({ name, as }: Exchange): Promise<string | undefined> {
  const { issuer, sandbox } = stack;
  if (name === "session: the cookie alone") return undefined;
  const kind = name === "session: cookie, expired bearer" ? "expired 1 s" : (/^jwt: (.*)/.exec(name)?.[1] ?? "good");
  // A token of the key that is withdrawn, made while it was there.
  if (kind.startsWith("withdrawn kid")) {
    if (kept === undefined) throw new Error("no token of the first key was kept");
    if (kind === "withdrawn kid while cached") issuer.withdraw("key-1");
    return kept;
  }
  if (kind.startsWith("new kid")) await issuer.rotate("key-2");
  const make = TOKEN_KINDS[KINDS[kind] ?? kind];
  if (make === undefined) throw new Error(`no token of the kind "${kind}"`);
  const value = await make({ issuer, audience: sandbox.url, email: emailOf(FOR[kind] ?? as) });
  if (kind === "no exp") kept = value;
  return value;
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

/** An object made for a recorded one that nothing stands for yet; the id itself where it is of no object. */
async function standIn(id: string, { path, note = "", name }: Exchange): Promise<string> {
  const makes = async (route: string, body?: unknown): Promise<Record<string, string>> =>
    (await stack.ask("planner", "POST", `/api${route}`, body)).body as Record<string, string>;
  if (path.includes(`/scenarios/${id}`))
    return (await makes("/scenarios", { scenario_name: "Stand-in" })).scenario_id ?? "";
  if (!path.includes(`/exercises/${id}`)) return id;
  if (/delete|read back|a while later/.test(`${name} ${note}`) && !note.includes("empty")) {
    const scenario = await scenarioWith(note.includes("article"));
    return (await makes(`/scenarios/${scenario}/exercise/running`)).exercise_id ?? "";
  }
  return (await makes("/exercises", { exercise_name: "Stand-in" })).exercise_id ?? "";
}
