import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type MongoJavaServer, missing, startMongoJavaServer } from "../support/mongo-java-server/server.js";
import { type Program, startProgram } from "../support/program.js";

// A service that moves to MongoDB answers as before: 500 calls, byte for byte. The MongoDB here is mongo-java-server.

const CALLS = 500;
const dataDir = mkdtempSync(join(tmpdir(), "sallyport-copied-"));
let program: Program | undefined;
let server: MongoJavaServer | undefined;

afterAll(async () => {
  await program?.stop();
  server?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Asked {
  readonly server: string;
  readonly method: string;
  readonly params: object;
}

async function answered({ baseUrl, bootstrap }: Program, { server: at, method, params }: Asked): Promise<string> {
  const answer = await fetch(`${baseUrl}/mcp/${at}`, {
    method: "POST",
    headers: { authorization: `Bearer ${bootstrap.admin.api_key}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }),
  });
  return `${answer.status} ${await answer.text()}`;
}

const tool = (server: string, name: string, args: object = {}): Asked => ({
  ...{ server, method: "tools/call" },
  params: { name, arguments: args },
});

async function made(of: Program, name: string, args: object): Promise<Record<string, { id: string }>> {
  const text = await answered(of, tool("core", name, args));
  return JSON.parse(text.slice(4)).result.structuredContent as Record<string, { id: string }>;
}

/** Objects of several kinds. @returns reads of each, and of all. */
async function populate(of: Program): Promise<Asked[]> {
  const reads: Asked[] = [];
  for (let i = 0; i < 60; i++) {
    const { agent } = await made(of, "create_agent", {
      name: `Agent ${i} ü`,
      instructions: `Answer ${i}. `.repeat(i + 1),
    });
    const { prompt } = await made(of, "create_prompt", {
      name: `prompt-${i}`,
      template: `Say {{word}} ${i}.`,
      arguments: [{ name: "word" }],
    });
    const { variable } = await made(of, "create_variable", {
      name: `V_${i}`,
      value: `value ${i}`,
      secret: i % 2 === 0,
    });
    reads.push(tool("core", "get_agent", { agent_id: agent?.id }));
    reads.push(tool("core", "get_prompt", { prompt_id: prompt?.id }));
    reads.push(tool("core", "get_variable", { variable_id: variable?.id }));
  }
  return reads;
}

/** One key makes all calls. */
const RATES = { CALLS_PER_SECOND: "9999", CALL_BURST: "9999", USER_CALLS_PER_SECOND: "9999", USER_CALL_BURST: "9999" };

const LISTS: readonly Asked[] = [
  ...["cti", "aev", "grc", "core"].map((at) => ({ server: at, method: "tools/list", params: {} })),
  ...["list_agents", "list_prompts", "list_variables", "list_skills", "list_runs", "list_assignments"].flatMap((name) =>
    [1, 7, 50, 100].map((size) => tool("core", name, { page_size: size })),
  ),
  tool("core", "whoami"),
  tool("core", "get_agent", { agent_id: "01900000-0000-7000-8000-000000000000" }),
  tool("cti", "whoami"),
  tool("cti", "list_entity_types"),
];

test.skipIf(missing !== undefined)(
  "a store that is copied to MongoDB gives the same answers",
  async () => {
    program = await startProgram({ dataDir, env: RATES, readyWithin: 240_000 });
    const reads = [...(await populate(program)), ...LISTS];
    const calls = Array.from({ length: CALLS }, (_, i) => reads[i % reads.length] as Asked);
    const before: string[] = [];
    for (const call of calls) before.push(await answered(program, call));
    // Most of them are answers, and of many objects.
    expect(before.filter((text) => text.startsWith("200 ") && !text.includes('"isError":true')).length).toBeGreaterThan(
      450,
    );
    expect(new Set(before).size).toBeGreaterThan(190);
    const { base_url: baseUrl } = program.bootstrap;
    await program.stop();

    server = await startMongoJavaServer();
    const cli = join(import.meta.dirname, "../../dist/clients/cli/main.js");
    const env = { ...process.env, DATA_DIR: dataDir, MONGODB_URI: server.uri };
    const copied = spawnSync(process.execPath, [cli, "store", "copy", "--to", "mongodb", "--json"], {
      env,
      encoding: "utf8",
    });
    expect(copied.stderr).toBe("");
    const { documents, digests } = JSON.parse(copied.stdout) as { documents: number; digests: Record<string, object> };
    expect(documents).toBeGreaterThan(300);
    expect(Object.keys(digests)).toEqual(expect.arrayContaining(["agents", "audit", "users"]));

    const port = new URL(baseUrl).port;
    program = await startProgram({
      dataDir,
      env: { ...RATES, MONGODB_URI: server.uri, PORT: port },
      readyWithin: 240_000,
    });
    const after: string[] = [];
    for (const call of calls) after.push(await answered(program, call));
    const differing = calls.flatMap((call, i) => (before[i] === after[i] ? [] : [[call, before[i], after[i]]]));
    expect(differing).toEqual([]);
  },
  1_200_000,
);
