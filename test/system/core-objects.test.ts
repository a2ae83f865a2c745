import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { EVERY_KIND, type KindUnderTest } from "../services/core-objects/every-kind.js";
import { post } from "../support/mcp.js";
import { makeKeysOf } from "../support/new-keys.js";
import { type Program, startProgram } from "../support/program.js";
import { CORE_TOOLS, DOORS, type Door, openDoors } from "./core-doors.js";

// Five callers, every tool of every kind, three origins, through three doors:
// each is answered as the table says, and all doors say it in the same words.

const CALLERS = ["administrator", "owner", "config", "view", "stranger"] as const;
type Who = (typeof CALLERS)[number];
type Origin = "builtin" | "company" | "user";
type Action = "read" | "update" | "share" | "delete";

const [OK, DENIED, ABSENT, WRONG] = ["ok", "PermissionDenied", "NotFound", "InvalidArgument"] as const;

/** In the order of CALLERS. */
const ANSWERS: Readonly<Record<Origin, Readonly<Record<Action, readonly string[]>>>> = {
  builtin: {
    read: [OK, OK, OK, OK, OK],
    update: [DENIED, DENIED, DENIED, DENIED, DENIED],
    share: [DENIED, DENIED, DENIED, DENIED, DENIED],
    delete: [DENIED, DENIED, DENIED, DENIED, DENIED],
  },
  company: {
    read: [OK, OK, OK, OK, OK],
    update: [OK, DENIED, DENIED, DENIED, DENIED],
    share: [WRONG, DENIED, DENIED, DENIED, DENIED],
    delete: [OK, DENIED, DENIED, DENIED, DENIED],
  },
  user: {
    read: [ABSENT, OK, OK, OK, ABSENT],
    update: [ABSENT, OK, OK, DENIED, ABSENT],
    share: [ABSENT, OK, DENIED, DENIED, ABSENT],
    delete: [ABSENT, OK, DENIED, DENIED, ABSENT],
  },
};

const SECRET = "sentinel-5f0c-of-a-secret-value";
const PLAIN = "sentinel-5f0c-of-what-is-not-secret";

let program: Program;
let doors: ReturnType<typeof openDoors>;
const keys = {} as Record<Who, string>;
const emails = {} as Record<Who, string>;

beforeAll(async () => {
  program = await startProgram();
  doors = openDoors(program);
  const { grpc_url: baseUrl, admin } = program.bootstrap;
  const asAdmin = { baseUrl, apiKey: admin.api_key };
  const { group } = await connectClient(GroupService, asAdmin).createGroup({ name: "viewers" });
  const users = connectClient(UserService, asAdmin);
  for (const who of CALLERS) {
    emails[who] = `${who}@example.org`;
    const groups = who === "view" ? [group!.id] : [];
    await users.createUser({ email: emails[who], name: who, admin: who === "administrator", groups });
    [keys[who] = ""] = await makeKeysOf(program, emails[who], 1);
  }
});
afterAll(() => program?.stop());

let names = 0;
const newOne = ({ needs, nameOf }: KindUnderTest, more: object): object => ({
  name: nameOf(`made${names++}`),
  description: "Made by a test.",
  ...needs,
  ...more,
});

async function create(door: Door, who: Who, kind: KindUnderTest, more: object = {}): Promise<string> {
  const { code, said, text } = await doors.ask(door, keys[who], `create_${kind.snake}`, newOne(kind, more));
  if (code !== OK) throw new Error(`create_${kind.snake}: ${code} ${said}`);
  return /"id":"([^"]+)"/.exec(text)![1]!;
}

/** Objects of the origin, one for each door: what is deleted through one is still there at the next. */
async function some(kind: KindUnderTest, origin: Origin): Promise<Readonly<Record<Door, string>>> {
  if (origin === "builtin") return { mcp: kind.builtin!, grpc: kind.builtin!, rpc: kind.builtin! };
  const sharing = [
    { to: `user:${emails.config}`, tier: "config" },
    { to: "group:viewers", tier: "view" },
  ];
  const make = (door: Door) =>
    origin === "company"
      ? create(door, "administrator", kind, { company_managed: true })
      : create(door, "owner", kind, { sharing });
  return { mcp: await make("mcp"), grpc: await make("grpc"), rpc: await make("rpc") };
}

const KNOWLEDGE_BASE = EVERY_KIND.find(({ noun }) => noun === "knowledge base")!;

test("search_knowledge is listed to who can see a knowledge base, from the very next request and until then", async () => {
  const isListed = async (who: Who): Promise<boolean> => {
    const { text } = await post(`${program.baseUrl}/mcp/core`, keys[who], "tools/list", {});
    return text.includes('"search_knowledge"');
  };
  const tell = async (tool: string, args: object): Promise<void> => {
    expect((await doors.ask("mcp", keys.owner, tool, args)).code).toBe(OK);
  };
  expect([await isListed("owner"), await isListed("view")]).toEqual([false, false]);
  const id = await create("mcp", "owner", KNOWLEDGE_BASE);
  expect([await isListed("owner"), await isListed("view")]).toEqual([true, false]);
  await tell("update_knowledge_base", { knowledge_base_id: id, share: [{ to: "group:viewers", tier: "view" }] });
  expect(await isListed("view")).toBe(true);
  await tell("update_knowledge_base", { knowledge_base_id: id, enabled: false });
  expect([await isListed("owner"), await isListed("view")]).toEqual([false, false]);
  await tell("update_knowledge_base", { knowledge_base_id: id, enabled: true });
  expect(await isListed("view")).toBe(true);
  await tell("delete_knowledge_base", { knowledge_base_id: id });
  expect([await isListed("owner"), await isListed("view")]).toEqual([false, false]);
});

describe.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))("%ss", (_noun, kind) => {
  const { snake, plural, reads } = kind;
  // One that everybody sees, so that everybody may search.
  if (kind === KNOWLEDGE_BASE)
    beforeAll(async () => void (await create("mcp", "administrator", kind, { company_managed: true })));

  const origins: readonly Origin[] = kind.builtin === undefined ? ["company", "user"] : ["builtin", "company", "user"];

  test.each(origins)(
    "of the origin %s are answered as the table says",
    async (origin) => {
      const ids = await some(kind, origin);
      const about = (door: Door) => ({ [`${snake}_id`]: ids[door] });
      const wrong: string[] = [];
      const check = async (
        action: Action,
        tool: string,
        argsOf: (door: Door) => object,
        callers: readonly Who[] = CALLERS,
      ) => {
        for (const who of callers) {
          const [is, should] = [
            await doors.askAll(keys[who], tool, argsOf),
            ANSWERS[origin][action][CALLERS.indexOf(who)],
          ];
          if (is !== should) wrong.push(`${who} ${tool} (${action}): ${is}, not ${should}`);
        }
      };
      for (const { tool, args } of reads) await check("read", tool, (door) => args(ids[door]));
      await check("update", `update_${snake}`, (door) => ({ ...about(door), description: "Changed." }));
      const share = [{ to: `user:${emails.config}`, tier: "config" }];
      await check("share", `update_${snake}`, (door) => ({ ...about(door), share }));
      for (const [n, who] of CALLERS.entries()) {
        for (const door of DOORS) {
          const { text } = await doors.ask(door, keys[who], `list_${plural}`, { origin, page_size: 100 });
          const isSeen = ANSWERS[origin].read[n] === OK;
          if (text.includes(`"${ids[door]}"`) !== isSeen) wrong.push(`${who} list_${plural} through ${door}`);
        }
      }
      // Whoever may delete it comes last.
      const may = (who: Who): number => Number(ANSWERS[origin].delete[CALLERS.indexOf(who)] === OK);
      await check(
        "delete",
        `delete_${snake}`,
        about,
        CALLERS.toSorted((a, b) => may(a) - may(b)),
      );
      expect(wrong).toEqual([]);
    },
    60_000,
  );

  test("are created by everyone as their own, and by administrators for the company", async () => {
    for (const who of CALLERS) {
      expect(await doors.askAll(keys[who], `create_${snake}`, () => newOne(kind, {}))).toBe(OK);
      const company = () => newOne(kind, { company_managed: true });
      const should = who === "administrator" ? OK : DENIED;
      expect([who, await doors.askAll(keys[who], `create_${snake}`, company)]).toEqual([who, should]);
    }
  });
});

describe("documents", () => {
  test.each(["company", "user"] as const)(
    "of knowledge bases of the origin %s are answered as the table says: written by who manages those",
    async (origin) => {
      const bases = await some(KNOWLEDGE_BASE, origin);
      const owner = origin === "company" ? "administrator" : "owner";
      const ids = {} as Record<Door, string>;
      const added = (door: Door) => ({ knowledge_base_id: bases[door], name: "Runbook", content: "Isolate the host." });
      for (const door of DOORS) {
        const { text } = await doors.ask(door, keys[owner], "create_document", added(door));
        ids[door] = /"id":"([^"]+)"/.exec(text)![1]!;
      }
      const about = (door: Door) => ({ document_id: ids[door] });
      const wrong: string[] = [];
      const check = async (action: Action, tool: string, argsOf: (door: Door) => object) => {
        // Whoever may do it comes last.
        const may = (who: Who): number => Number(ANSWERS[origin][action][CALLERS.indexOf(who)] === OK);
        for (const who of CALLERS.toSorted((a, b) => may(a) - may(b))) {
          const is = await doors.askAll(keys[who], tool, argsOf);
          const should = ANSWERS[origin][action][CALLERS.indexOf(who)];
          if (is !== should) wrong.push(`${who} ${tool}: ${is}, not ${should}`);
        }
      };
      await check("read", "list_documents", (door) => ({ knowledge_base_id: bases[door] }));
      await check("read", "read_document", about);
      await check("delete", "create_document", added);
      await check("delete", "update_document", (door) => ({ ...about(door), content: "Rotate the keys." }));
      await check("delete", "delete_document", about);
      expect(wrong).toEqual([]);
    },
    60_000,
  );
});

test("what may be attached is listed to those who can read it, through every door", async () => {
  const kind = EVERY_KIND.find(({ noun }) => noun === "MCP server")!;
  const { mcp: id } = await some(kind, "user");
  const seen: string[] = [];
  for (const who of CALLERS) {
    for (const door of DOORS) {
      const { text } = await doors.ask(door, keys[who], "list_available_resources", { kind: "mcp_server" });
      if (text.includes(`"${id}"`)) seen.push(`${who} ${door}`);
    }
  }
  expect(seen).toEqual(["owner", "config", "view"].flatMap((who) => DOORS.map((door) => `${who} ${door}`)));
});

const AGENT = EVERY_KIND.find(({ noun }) => noun === "agent")!;
const ASSIGNMENT = EVERY_KIND.find(({ noun }) => noun === "assignment")!;

test.each(["builtin", "company", "user"] as const)(
  "agents and assignments of the origin %s are run by whoever may see them",
  async (origin) => {
    const agents = await some(AGENT, origin);
    for (const [n, who] of CALLERS.entries()) {
      const run = (door: Door) => ({ agent_id: agents[door], input: "Look." });
      expect([who, await doors.askAll(keys[who], "trigger_run", run)]).toEqual([who, ANSWERS[origin].read[n]]);
    }
    if (origin === "builtin") return;
    const assignments = await some(ASSIGNMENT, origin);
    for (const [n, who] of CALLERS.entries()) {
      const run = (door: Door) => ({ assignment_id: assignments[door] });
      expect([who, await doors.askAll(keys[who], "trigger_assignment", run)]).toEqual([who, ANSWERS[origin].read[n]]);
    }
  },
  60_000,
);

test("a run is there for whoever triggered it and for nobody else, through every door", async () => {
  const ids = {} as Record<Door, string>;
  for (const door of DOORS) {
    const { text } = await doors.ask(door, keys.owner, "trigger_run", { agent_id: AGENT.builtin!, input: "Look." });
    ids[door] = /"id":"([0-9a-f-]{36})"/.exec(text)![1]!;
  }
  for (const who of CALLERS) {
    const should = who === "owner" ? OK : ABSENT;
    for (const tool of ["get_run", "list_run_steps"])
      expect([who, tool, await doors.askAll(keys[who], tool, (door) => ({ run_id: ids[door] }))]).toEqual([
        who,
        tool,
        should,
      ]);
    for (const door of DOORS) {
      const { text } = await doors.ask(door, keys[who], "list_runs", { page_size: 100 });
      expect([who, door, text.includes(ids[door])]).toEqual([who, door, who === "owner"]);
    }
    if (who === "owner") continue;
    const cancel = (door: Door) => ({ run_id: ids[door], cancel: true });
    expect([who, await doors.askAll(keys[who], "update_run", cancel)]).toEqual([who, ABSENT]);
  }
});

test("every tool of these kinds was called", () => {
  const toolsets = new Set([...EVERY_KIND.map(({ snake }) => snake), "resource", "document", "run"]);
  const names = [...CORE_TOOLS.values()].flatMap(({ tool }) => (toolsets.has(tool.toolset) ? [tool.name] : []));
  expect(names.filter((name) => !doors.called.has(name))).toEqual([]);
});

const SECRETIVE = EVERY_KIND.flatMap((kind) => (kind.secret === undefined ? [] : [{ ...kind, secret: kind.secret }]));
test.each(SECRETIVE.map((kind) => [kind.noun, kind] as const))(
  "what is secret of a %s comes back through no door, whatever is wrong with the call",
  async (_noun, { snake, secret, ...kind }) => {
    const { ask, answered } = doors;
    const { given, changed } = secret;
    const [update, before] = [`update_${snake}`, answered.length];
    for (const door of DOORS) {
      const made = await create(door, "owner", { snake, ...kind }, { ...given(SECRET), description: PLAIN });
      const about = { [`${snake}_id`]: made };
      expect((await ask(door, keys.owner, update, { ...about, ...changed(SECRET) })).code).toBe(OK);
      for (const { tool, args } of kind.reads) await ask(door, keys.owner, tool, args(made));
      await ask(door, keys.owner, `list_${kind.plural}`, {});
      for (const [who, args] of [
        ["owner", { ...about, ...changed(SECRET), etag: "another" }],
        ["owner", { ...about, ...changed(SECRET), description: "x".repeat(3_000) }],
        ["owner", { ...about, ...changed(SECRET.repeat(1_000)) }],
        ["owner", { [`${snake}_id`]: "nothing", ...changed(SECRET) }],
        ["view", { ...about, ...changed(SECRET) }],
      ] as const) {
        expect((await ask(door, keys[who], update, args)).code).not.toBe(OK);
      }
    }
    const one = newOne({ snake, ...kind }, given(SECRET));
    const odd = Object.fromEntries(Object.entries(given(SECRET)).map(([name]) => [name, { [SECRET]: SECRET }]));
    for (const args of [
      { ...one, colour: 1 },
      { ...one, ...odd },
    ]) {
      const [name, url] = [`create_${snake}`, `${program.baseUrl}/mcp/core`];
      const { text, body } = await post(url, keys.owner, "tools/call", { name, arguments: args });
      expect(body.result?.isError).toBe(true);
      answered.push(text);
    }
    for (const value of [odd, Object.fromEntries(Object.keys(odd).map((name) => [name, [SECRET]]))]) {
      const { method } = CORE_TOOLS.get(`create_${snake}`)!.tool;
      const reply = await fetch(`${program.baseUrl}/rpc/${method.parent.typeName}/${method.name}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${keys.owner}` },
        body: JSON.stringify(value),
      });
      expect(reply.status).toBe(400);
      answered.push(await reply.text());
    }
    expect(answered.slice(before).join("\n")).not.toContain(SECRET);
  },
);

test("what is secret is in no log, in no audit record and, in the clear, in no file", async () => {
  const audit = connectClient(AuditService, {
    baseUrl: program.bootstrap.grpc_url,
    apiKey: program.bootstrap.admin.api_key,
  });
  // Records are written some moments after what they tell of.
  const said = await vi.waitFor(async () => {
    const { records } = await audit.listAuditRecords({ action: "core.v1", pageSize: 100 });
    const text = JSON.stringify(records, (_, value) => (typeof value === "bigint" ? String(value) : value));
    expect(text).toContain("UpdateVariable");
    return text;
  });
  const file = readFileSync(join(program.dataDir, "main/data.mdb"), "latin1");
  expect(file).toContain(PLAIN);
  for (const text of [said, file, program.output()]) expect(text).not.toContain(SECRET);
});
