import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, toolNames } from "../support/mcp.js";
import { type MongoJavaServer, missing, startMongoJavaServer } from "../support/mongo-java-server/server.js";
import { freePorts, type Program, spawnProgram, startProgram, untilReady } from "../support/program.js";
import { titled } from "../support/titled.js";

// Two processes, each with a façade, a catalogue and core-objects of its own, on one MongoDB: what
// one is told holds for the very next list of the other, and of itself.

type Args = Readonly<Record<string, unknown>>;

describe.skipIf(missing !== undefined)(titled("on one MongoDB", missing), () => {
  let server: MongoJavaServer;
  let program: Program;
  let other: ReturnType<typeof spawnProgram>;
  let urls: readonly [string, string];
  let [admin, analyst] = ["", ""];

  beforeAll(async () => {
    server = await startMongoJavaServer();
    const env = { MONGODB_URI: `${server.uri.replace(/\/$/, "")}/listed` };
    program = await startProgram({ env });
    [admin, analyst] = [program.bootstrap.admin.api_key, program.bootstrap.analyst.api_key];
    const elsewhere = program.bootstrap.grpc_url;
    const [port, grpcPort] = await freePorts(2);
    other = spawnProgram("services/main.js", ["--services", "catalogue,core-objects"], {
      ...env,
      ...{ PORT: String(port), GRPC_PORT: String(grpcPort), BASE_URL: program.baseUrl },
      ...{ AUTH_URL: elsewhere, PLATFORM_PROXY_URL: elsewhere, TRACES_URL: elsewhere },
      ...{ SERVICE_KEY_FILE: join(program.dataDir, "service-key"), DATA_DIR: join(program.dataDir, "other") },
    });
    await untilReady(other);
    urls = [`${program.baseUrl}/mcp/core`, `http://127.0.0.1:${port}/mcp/core`];
  });
  afterAll(async () => {
    await other?.stop();
    await program?.stop();
    server?.stop();
  });

  const listed = async (name: string) =>
    Promise.all(urls.map(async (url) => (await toolNames(url, analyst)).includes(name)));
  /** Tells one process, and gives whether each lists the tool to the analyst afterwards. */
  async function after(at: 0 | 1, tool: string, args: Args, name: string): Promise<boolean[]> {
    await call(urls[at], admin, tool, args);
    return listed(name);
  }

  test.each([0, 1] as const)("a grant, a skill and a removed knowledge base told to process %i", async (at) => {
    const share = (tier: string) => [{ to: `user:${program.bootstrap.analyst.email}`, tier }];
    const made = async (kind: string, args: Args) =>
      ((await call(urls[at], admin, `create_${kind}`, args))[kind] as { id: string }).id;

    expect(await listed("search_knowledge")).toEqual([false, false]);
    const knowledge_base_id = await made("knowledge_base", { name: "kb" });
    expect(await listed("search_knowledge")).toEqual([false, false]);
    const granted = { knowledge_base_id, share: share("view") };
    expect(await after(at, "update_knowledge_base", granted, "search_knowledge")).toEqual([true, true]);
    expect(await after(at, "delete_knowledge_base", { knowledge_base_id }, "search_knowledge")).toEqual([false, false]);

    // Skills ship with the product, so that the tool is there for everybody: the new one is there at once.
    const skill_id = await made("skill", {
      name: `skill-${at}`,
      description: "d",
      instructions: "Look.",
      company_managed: true,
    });
    for (const url of urls)
      expect(JSON.stringify(await call(url, analyst, "load_skill", { skill: skill_id }))).toContain("Look.");
    expect(await listed("load_skill")).toEqual([true, true]);
  });
});
