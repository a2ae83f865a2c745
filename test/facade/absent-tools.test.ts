import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { createCatalogueService } from "../../services/catalogue/service.js";
import { silentLog } from "../../services/shared/process/log.js";
import type { Call } from "../../services/shared/rpc/call.js";
import { unavailable } from "../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../services/shared/rpc/in-process.js";
import { type Method, unary } from "../../services/shared/rpc/method.js";
import { createPeers } from "../../services/shared/rpc/peers.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../services/shared/tools/tools.js";
import { openStore } from "../services/catalogue/rig.js";
import { LOOPBACK } from "../support/outgoing.js";
import { legacy, modern, post } from "./support/client.js";
import { createKeys } from "./support/credentials.js";
import { type Started, start } from "./support/start.js";

// The real allow-list behind a real catalogue; the tools themselves are answered by stubs.

const SERVERS = ["cti", "aev", "grc", "core"] as const;
const tools = readTools(readImage());
const keys = createKeys();
/** What the platforms and core say that the caller can do; undefined where they do not answer. */
let held: readonly string[] | undefined;
let asked = 0;
let server: Started;
let opened: Awaited<ReturnType<typeof openStore>>;

const capabilities = () => {
  if (held === undefined) throw unavailable("nobody at home");
  return { capabilities: [...held] };
};
const stubOf = ({ method }: Tool): Method =>
  method.methodKind === "unary"
    ? { desc: method, handle: () => ({}) }
    : {
        desc: method,
        handle: async function* () {
          yield { event: { case: "result", value: {} } };
        },
      };

beforeAll(async () => {
  opened = await openStore();
  const steps = { authenticator: keys.authenticator, log: silentLog };
  const around = mountInProcess(
    [
      unary(CredentialService.method.exchangeAssertion, ({ subjectToken }) => ({ assertion: subjectToken })),
      unary(SnapshotService.method.getSnapshot, capabilities),
      unary(CapabilityService.method.getCapabilities, capabilities),
    ],
    steps,
  );
  const at = (name: string) => ({ url: `http://${name}`, publicUrl: `http://${name}`, title: name });
  const catalogue = await createCatalogueService({
    homepage: "https://mcp.example.com",
    serviceName: "Sallyport",
    urlOf: (server) => `https://mcp.example.com/mcp/${server}`,
    store: opened.store,
    peers: createPeers(around, { authorization: "Bearer facade" }),
    log: silentLog,
    tools,
    configured: { cti: at("cti"), aev: at("aev"), grc: at("grc") },
    authentications: {},
    registrationToken: undefined,
    outgoing: LOOPBACK,
  });
  await opened.store
    .collection("switches")
    .updateOne({ _id: "switches" }, { $set: { platform_servers: true, core: true, ai: true } }, { upsert: true });
  const counted = catalogue.methods.map((method) => ({
    ...method,
    handle(request: never, call: Call) {
      if (method.desc.name === "ExplainTool") asked++;
      return method.handle(request, call);
    },
  }));
  server = await start({
    image: readImage(),
    credentials: keys,
    dispatch: mountInProcess([...counted, ...tools.map(stubOf)], steps),
  });
});
afterAll(async () => {
  await server.close();
  await opened.end();
});
beforeEach(() => {
  held = ["*"];
});

let made = 0;
/** A new key for somebody new, so that nothing is remembered of what the key before saw. */
function keyWith(scopes: readonly string[]): string {
  const name = `key-${made++}`;
  keys.add(name, { scopes: new Set(["account", "public", "delegated", ...scopes]) });
  return name;
}

/** Calls a tool in an era; the name is taken out of the answer. */
type Era = (method: string, params: Record<string, unknown>) => { body: object; headers: Record<string, string> };
async function call(era: Era, at: string, key: string, name: string) {
  const { body, headers } = era("tools/call", { name, arguments: { nonsense: 1 } });
  const answer = await post(`${server.url}/mcp/${at}`, body, { ...headers, authorization: `Bearer ${key}` });
  return {
    status: answer.status,
    headers: [...answer.headers].filter(([header]) => header !== "date" && header !== "content-length"),
    text: answer.text.replaceAll(name, "NAME"),
    json: answer.json,
  };
}

async function listed(at: string, key: string): Promise<string[]> {
  const { body, headers } = modern("tools/list");
  const { json } = await post(`${server.url}/mcp/${at}`, body, { ...headers, authorization: `Bearer ${key}` });
  return json.result.tools.map((tool: { name: string }) => tool.name);
}

const said = (json: { result: { content: { text: string }[] } }) => json.result.content.map(({ text }) => text).join();
const of = (name: string) => tools.filter((tool) => tool.server === name);
const scopesOf = (name: string) => [`${name}:read`, `${name}:write`];

describe.each<[string, Era]>([
  ["2026-07-28", modern],
  ["2025-11-25", legacy],
])("%s", (_era, era) => {
  test("a key without the scope is told which one, and who gives it", async () => {
    const { status, json } = await call(era, "cti", keyWith(["cti:read"]), "delete_entity");
    expect([status, json.result.isError]).toEqual([200, true]);
    expect(said(json)).toBe(
      "delete_entity needs the scope cti:write, which the API key of this connection does not have: its owner or an administrator can create a key that has it",
    );
  });

  test("an account without the right is told which one, and who gives it", async () => {
    held = ["KNOWLEDGE", "KNOWLEDGE_KNUPDATE"];
    const { status, json } = await call(era, "cti", keyWith(scopesOf("cti")), "delete_entity");
    expect([status, json.result.isError]).toEqual([200, true]);
    expect(said(json)).toBe(
      "delete_entity needs the right KNOWLEDGE_KNUPDATE_KNDELETE on the cti platform, which your account there does not have: ask an administrator of the platform to add what is missing to a role of one of your groups. whoami shows your rights",
    );
  });

  test("a right of our naming is told by the platform's own name", async () => {
    held = ["ACCESS_ASSESSMENT"];
    const { json } = await call(era, "aev", keyWith(scopesOf("aev")), "create_scenario");
    expect(said(json)).toMatch(/needs the right MANAGE_ASSESSMENT on all scenarios on the aev platform/);
  });

  test("on core, what has to be shared first is named", async () => {
    held = [];
    const key = keyWith(scopesOf("core"));
    expect(said((await call(era, "core", key, "load_skill")).json)).toBe(
      "load_skill needs a skill that you may read, and you have none: ask an owner or an administrator to share one with you",
    );
  });

  test("the parameter of the URL that leaves a tool out is named", async () => {
    const key = keyWith(scopesOf("cti"));
    const readonly = await call(era, "cti?readonly=1", key, "delete_entity");
    expect(readonly.json.result.isError).toBe(true);
    expect(said(readonly.json)).toBe(
      "delete_entity is not available: readonly=1 in the URL of this connection keeps only tools that change nothing. The person who configured the URL can remove it.",
    );
    const toolsets = await call(era, "cti?toolsets=search,insight", key, "delete_entity");
    expect(said(toolsets.json)).toBe(
      "delete_entity is not available: toolsets= in the URL of this connection does not name the toolset entity. The person who configured the URL can add it.",
    );
  });

  test("what was given since the list was read is let through", async () => {
    held = ["KNOWLEDGE"];
    const key = keyWith(scopesOf("cti"));
    expect(await listed("cti", key)).not.toContain("delete_entity");
    held = ["*"];
    expect(said((await call(era, "cti", key, "delete_entity")).json)).toMatch(/unknown argument "?nonsense/);
  });

  test("where the platform does not say what the caller can do, a call is let through to say why", async () => {
    held = undefined;
    expect(said((await call(era, "cti", keyWith(scopesOf("cti")), "delete_entity")).json)).toMatch(/nonsense/);
  });

  test("names outside of the list are all the same unknown tool, byte for byte", async () => {
    const rpcs = [...readImage()].flatMap((desc) => (desc.kind === "service" ? desc.methods : []));
    const words = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();
    for (const [key, names] of [
      [keyWith(["cti:read"]), tools.filter((tool) => tool.server !== "cti").map(({ name }) => name)],
      [keyWith(scopesOf("cti")), rpcs.map(({ name }) => words(name))],
      [keyWith([]), ["list_users", "create_group", "add_connector", "__proto__", "constructor", "DELETE_ENTITY", ""]],
    ] as const) {
      const own = new Set(of("cti").map(({ name }) => name));
      for (const query of ["", "?readonly=1"]) {
        const unknown = await call(era, `cti${query}`, key, "no_such_tool");
        expect(unknown.json.error).toEqual({ code: -32602, message: "Unknown tool: no_such_tool" });
        for (const name of new Set(names)) {
          if (own.has(name) || (name === "" && era === modern)) continue;
          const { json: _, ...answer } = await call(era, `cti${query}`, key, name);
          const { json: __, ...expected } = unknown;
          expect(name === "" ? { ...answer, text: expected.text } : answer).toEqual(expected);
        }
      }
    }
  });
});

/** What the platforms call rights that have a name of ours. */
const PLATFORMS_WORDS: Readonly<Record<string, string>> = {
  CREATE_ASSESSMENT: "MANAGE_ASSESSMENT",
  SEARCH_FINDINGS: "ACCESS_FINDINGS",
};

test("every tool, whatever the scopes, the rights and the URL: called, or refused with the reason that holds", async () => {
  const rights = [...new Set(tools.flatMap(({ needs }) => needs))];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...tools).chain((tool) => {
        const toolsets = [...new Set(of(tool.server).map((one) => one.toolset))];
        return fc.record({
          tool: fc.constant(tool),
          readonly: fc.boolean(),
          toolsets: fc.option(fc.subarray(toolsets, { minLength: 1 }), { nil: undefined }),
          exclude: fc.option(fc.subarray([...toolsets, tool.name], { minLength: 1 }), { nil: undefined }),
        });
      }),
      fc.subarray(SERVERS.flatMap(scopesOf)),
      fc.oneof(fc.constant<string[]>(["*"]), fc.subarray(rights)),
      fc.constantFrom<Era>(modern, legacy),
      async ({ tool, readonly, toolsets, exclude }, scopes, can, era) => {
        held = can;
        const query = new URLSearchParams({
          ...(readonly && { readonly: "1" }),
          ...(toolsets !== undefined && { toolsets: toolsets.join(",") }),
          ...(exclude !== undefined && { exclude: exclude.join(",") }),
        });
        const answer = await call(era, `${tool.server}?${query}`, keyWith(scopes), tool.name);
        const { json } = answer;
        expect([answer.status, json.error, json.result?.isError]).toEqual([200, undefined, true]);
        const missing = tool.needs.filter((need) => !can.includes("*") && !can.includes(need));
        const expected =
          readonly && !tool.readOnly
            ? /not available: readonly=1 in the URL/
            : toolsets !== undefined && !toolsets.includes(tool.toolset)
              ? /not available: toolsets= in the URL/
              : exclude?.some((name) => name === tool.name || name === tool.toolset)
                ? /not available: exclude= in the URL/
                : !scopes.includes(tool.scope)
                  ? new RegExp(`needs the scope ${tool.scope}, .* can create a key that has it$`)
                  : missing.length > 0
                    ? new RegExp(`^${tool.name} needs .*(an administrator|shares one with you)`)
                    : /unknown argument "?nonsense/;
        expect(said(json)).toMatch(expected);
        if (tool.server !== "core") {
          for (const right of missing.filter(() => said(json).includes("needs the right"))) {
            expect(said(json)).toContain(PLATFORMS_WORDS[right] ?? right);
          }
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("nothing is asked about a tool that is in the list", async () => {
  const key = keyWith(scopesOf("cti"));
  const before = asked;
  await call(modern, "cti", key, "delete_entity");
  await call(modern, "cti?readonly=1", key, "delete_entity");
  await call(modern, "cti", key, "no_such_tool");
  expect(asked).toBe(before);
});
