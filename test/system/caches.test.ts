import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Nobody is given from a cache what is somebody else's. People with different rights, and keys with different scopes, ask
// the same questions over all servers, in random order and at once; each is answered as if alone.

/** Every module that keeps answers, and what of a person it keeps, by what. A new one is decided upon here. */
const CACHES: Readonly<Record<string, string>> = {
  "facade/catalogue/served-tool.ts": "texts of results, by the result itself, which its service keeps by the caller",
  "facade/catalogue/visible-tools.ts": "the tools that a caller sees, by the caller; asked below as lists",
  "facade/catalogue/endpoint-query.ts": "nothing: how a query is read",
  "facade/http/encodings.ts": "nothing: how a header is read",
  "services/auth/authenticator.ts": "whose an assertion is, by the assertion; behind every call below",
  "services/auth/platform-tokens.ts": "platform tokens, by user and platform; behind every platform call below",
  "services/auth/verification.ts": "that a secret is right, by its key; behind every call below",
  "services/core-objects/knowledge/mirror.ts": "nothing: which documents are in an index",
  "services/core-objects/knowledge/questions.ts": "integrations that failed, by their ids",
  "services/core-objects/objects/kept-pages.ts": "pages of lists, by caller and request; asked below",
  "services/platform-proxy/context.ts": "whose a key is, to forget sessions",
  "services/platform-proxy/identity.ts": "who the platform takes a caller for, by the caller; asked below as whoami",
  "services/platform-proxy/lib/denied-fields.ts": "nothing: how a text is read",
  "services/platform-proxy/platforms/grc/compare-assessments.ts":
    "the lines of two audits, by caller, who is asked for by the platform at each page",
  "services/platform-proxy/platforms/grc/outline.ts": "requirements of frameworks, by caller",
  "services/platform-proxy/platforms/grc/scope.ts": "requirements of audits, by caller",
  "services/shared/credentials/kept-credentials.ts": "who a caller is, by the credential; behind every call below",
  "services/shared/limits/buckets.ts": "nothing: counts",
  "services/shared/limits/failures.ts": "nothing: counts",
  "services/shared/limits/recently-used.ts": "nothing of its own: it makes those of others",
  "services/shared/rpc/lane/shared-replies.ts": "replies, by all of their bytes: equal bytes say the same to anybody",
  "services/shared/rpc/page-token.ts": "nothing: a position gives the same token to all, and grants nothing",
  "services/shared/rpc/peers.ts": "assertions for other services, by the assertion that they were exchanged for",
  "services/shared/rpc/reflection.ts": "nothing: files of the API",
  "services/shared/store/embedded/kept-documents.ts":
    "documents that were read a moment ago, by their ids, for the code that asked for one by its id",
  "services/shared/store/embedded/kept-results.ts":
    "results of queries, by the whole query, whose filter holds the caller",
};

/** What a file that keeps something says. */
const CACHE = /\bnew LRUCache\b|\brecently-used\.js"/;

test("every cache is known, with what it keeps of a person", () => {
  const root = join(import.meta.dirname, "../..");
  const found = ["services", "facade"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && CACHE.test(readFileSync(join(root, folder, file), "utf8")))
      .map((file) => join(folder, file)),
  );
  expect(found.toSorted()).toEqual(Object.keys(CACHES).toSorted());
});

let program: Program;
const keys = new Map<string, string>();
const sentinelOf = (who: string): string => `sentinel-of-${who}-alone`;
const PEOPLE = ["admin", "analyst", "reader", "narrow"] as const;
type Who = (typeof PEOPLE)[number];

const ask = (who: Who, server: string, tool: string | undefined, args: object = {}, query = "") => {
  const url = `${program.baseUrl}/mcp/${server}${query}`;
  const key = keys.get(who)!;
  return tool === undefined
    ? post(url, key, "tools/list")
    : post(url, key, "tools/call", { name: tool, arguments: args });
};

async function rpc(path: string, body: object): Promise<Record<string, string>> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${program.bootstrap.admin.api_key}` };
  const reply = await fetch(`${program.baseUrl}/rpc/auth.v1.${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return (await reply.json()) as Record<string, string>;
}

beforeAll(async () => {
  program = await startProgram();
  keys.set("admin", program.bootstrap.admin.api_key);
  keys.set("analyst", program.bootstrap.analyst.api_key);
  for (const who of ["reader", "narrow"]) {
    const email = who === "narrow" ? "planner@sallyport.example" : `${who}@sallyport.example`;
    await rpc("UserService/CreateUser", { email, name: who });
    const scopes = who === "narrow" ? { scopes: ["core:read", "core:write", "aev:read"] } : {};
    keys.set(who, (await rpc("ApiKeyService/CreateApiKey", { userEmail: email, name: who, ...scopes })).token!);
  }
  for (const who of PEOPLE) {
    for (const n of [1, 2, 3])
      await ask(who, "core", "create_variable", { name: `${who}_${n}`, value: sentinelOf(who) });
    const { body } = await ask(who, "core", "create_knowledge_base", { name: `Notes of ${who}` });
    const { knowledge_base: base } = body.result!.structuredContent as { knowledge_base: { id: string } };
    const document = {
      knowledge_base_id: base.id,
      name: "Notes",
      content: `# Shift\n\nThe ${sentinelOf(who)} was seen.`,
    };
    expect((await ask(who, "core", "create_document", document)).body.result?.isError).toBeFalsy();
  }
}, 240_000);
afterAll(() => program?.stop());

type Question = readonly [server: string, tool: string | undefined, args?: object, query?: string];
const QUESTIONS: readonly Question[] = [
  ...["cti", "aev", "grc", "core"].flatMap((server): Question[] => [
    [server, undefined],
    [server, undefined, {}, "?readonly=1"],
    [server, undefined, {}, "?toolsets=basic"],
  ]),
  ...["cti", "aev", "grc"].map((server): Question => [server, "whoami"]),
  ["cti", "list_reports", { page_size: 5 }],
  ["cti", "search_entities", { types: ["Malware"], page_size: 5 }],
  ["grc", "list_tenants"],
  ["grc", "list_evidence", { page_size: 5 }],
  ["aev", "list_scenarios", { page_size: 5 }],
  ["core", "list_variables", { page_size: 2 }],
  ["core", "list_agents", { page_size: 5 }],
  ["core", "list_knowledge_bases"],
  ["core", "search_knowledge", { query: "what was seen on the shift" }],
];

/** Whose an answer speaks of besides whoever asked. */
function othersIn(text: string, who: Who): string[] {
  return PEOPLE.filter((other) => other !== who && text.includes(sentinelOf(other)));
}

test("whoever asks when, everybody is answered as if alone", { timeout: 240_000 }, async () => {
  // Each alone, one after the other: twice, because not every answer is the same twice.
  const alone = new Map<string, string>();
  const settled = new Set<string>();
  for (const round of [1, 2])
    for (const who of PEOPLE)
      for (const [n, question] of QUESTIONS.entries()) {
        const { text, status } = await ask(who, ...question);
        const said = `${status} ${text}`;
        expect(othersIn(text, who)).toEqual([]);
        const at = `${who} ${n}`;
        if (round === 2 && alone.get(at) === said) settled.add(at);
        alone.set(at, said);
      }
  expect(settled.size).toBeGreaterThan(0.8 * PEOPLE.length * QUESTIONS.length);
  const own = await ask("analyst", "core", "get_variable", { variable_id: await firstVariable("analyst") });
  expect(own.text).toContain(sentinelOf("analyst"));

  const step = fc.record({ who: fc.constantFrom(...PEOPLE), n: fc.nat(QUESTIONS.length - 1) });
  const schedule = fc.array(fc.array(step, { minLength: 2, maxLength: 8 }), { minLength: 4, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(schedule, async (turns) => {
      for (const turn of turns)
        await Promise.all(
          turn.map(async ({ who, n }) => {
            const { text, status } = await ask(who, ...QUESTIONS[n]!);
            expect(othersIn(text, who)).toEqual([]);
            if (settled.has(`${who} ${n}`))
              expect(`${status} ${text}` === alone.get(`${who} ${n}`), `${who} asks ${QUESTIONS[n]}`).toBe(true);
          }),
        );
    }),
    { numRuns: 12, seed: 8, endOnFailure: true },
  );
});

async function firstVariable(who: Who): Promise<string> {
  const { body } = await ask(who, "core", "list_variables", { page_size: 1 });
  return (body.result!.structuredContent as { variables: { id: string }[] }).variables[0]!.id;
}

test("a page token of one person gives another one nothing", async () => {
  for (const who of PEOPLE) {
    const { body } = await ask(who, "core", "list_variables", { page_size: 1 });
    const { next_page_token } = body.result!.structuredContent as { next_page_token: string };
    expect(next_page_token).toBeTruthy();
    for (const other of PEOPLE.filter((one) => one !== who)) {
      const page = await ask(other, "core", "list_variables", { page_size: 100, page_token: next_page_token });
      expect(page.text).not.toContain(`"${who}_`);
    }
  }
});

test("a session id opens nothing and changes nothing", async () => {
  const url = `${program.baseUrl}/mcp/core`;
  const of = (key: string, session: object) =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json",
        ...session,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
    });
  const without = await of(keys.get("reader")!, {});
  const session = { "mcp-session-id": "1868a90c-0000-4000-8000-000000000000" };
  const withOne = await of(keys.get("reader")!, session);
  expect([withOne.status, withOne.headers.get("mcp-session-id")]).toEqual([without.status, null]);
  expect(await withOne.text()).toBe(await without.text());
  expect((await of("slp_nobody", session)).status).toBe(401);
});
