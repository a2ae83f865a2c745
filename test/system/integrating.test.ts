import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { everyItem } from "../../clients/node/pages.js";
import { GO_SAMPLE, GRPCURL, isInstalled, isOnPath, JAVA_CLASSPATH, PYTHON, run } from "../support/foreign.js";
import { type Program, startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

// The samples that docs/integrating.md quotes, run as their readers run them.
// Every language shows the same, errors in the same words among it. The package
// of clients/node is as somebody has it who installed its tarball into an empty
// folder: nothing of this repository but what was packed.

const ROOT = join(import.meta.dirname, "../..");
const SAMPLES = join(ROOT, "docs/integrating");
const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Package;
const client = JSON.parse(readFileSync(join(ROOT, "clients/node/package.json"), "utf8")) as Package;

interface Package {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

let program: Program;
let folder: string;
let env: Record<string, string>;
let agents: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-samples-"));
  program = await startProgram();
  const { grpc_url: baseUrl, analyst } = program.bootstrap;
  const as = { baseUrl, apiKey: analyst.api_key };
  const { scenarios } = await connectClient(ScenarioService, as).listScenarios({ pageSize: 1 });
  const client = connectClient(AgentService, as);
  agents = 0;
  const all = everyItem(
    (pageToken) => client.listAgents({ pageToken }),
    (page) => page.agents,
  );
  for await (const _ of all) agents++;
  env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    SALLYPORT_URL: program.baseUrl,
    SALLYPORT_GRPC_URL: baseUrl,
    SERVICE_API_KEY: analyst.api_key,
    SCENARIO_ID: scenarios[0]?.id ?? "",
  };
});
afterAll(async () => {
  await program?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const CONSUMER = `
import { credentials } from "@grpc/grpc-js";
import { connectClient } from "@sallyport/client/connect";
import { grpcClient } from "@sallyport/client/grpc";
import { everyItem } from "@sallyport/client/pages";
import { type Agent, AgentService } from "@sallyport/client/core/v1/agent_service";

const [baseUrl = "", rpcUrl = "", apiKey = ""] = process.argv.slice(2);
const clients = [
  connectClient(AgentService, { baseUrl, apiKey }),
  connectClient(AgentService, { baseUrl, apiKey, protocol: "grpc" }),
  connectClient(AgentService, { baseUrl: rpcUrl, apiKey, httpVersion: "1.1" }),
  grpcClient(AgentService, { address: new URL(baseUrl).host, apiKey, channel: credentials.createInsecure() }),
];
const seen: number[] = [];
for (const agents of clients) {
  const ids = new Set<string>();
  const all = everyItem((pageToken) => agents.listAgents({ pageSize: 2, pageToken }), (page) => page.agents);
  for await (const agent of all) ids.add((agent satisfies Agent).id);
  seen.push(ids.size);
}
process.stdout.write(JSON.stringify(seen));
process.exit(0);
`;

const REFUSED = "refused INVALID_ARGUMENT page_size: must be between 1 and 100";
const WRONG_KEY = "wrong key UNAUTHENTICATED the API key is not valid: check that it is complete, or create a new one";
const OVER_RPC =
  "wrong key UNAUTHENTICATED the API key or token is not accepted: create a new API key, or sign in again";

async function shows(command: string, args: readonly string[], more: object = {}, refused: string[] = [WRONG_KEY]) {
  const done = await run(command, args, { env: { ...env, ...more }, cwd: folder });
  expect(done.stderr).not.toMatch(/Traceback|Exception|panic|Error:/);
  expect(done.stdout.trimEnd().split("\n")).toEqual([
    `agents ${agents}`,
    "created once true",
    REFUSED,
    ...refused,
    "stream progress",
  ]);
}

const named = (language: string, isThere: boolean, how: string): string => titled(language, isThere ? undefined : how);

const INSTALL = "run test/foreign/install.sh";
const hasPython = isInstalled(PYTHON);
test.skipIf(!hasPython)(
  named("Python", hasPython, INSTALL),
  async () => {
    const generated = await run(join(SAMPLES, "python/generate.sh"), [join(ROOT, "proto"), join(folder, "stubs")], {
      env: { ...env, PYTHON },
    });
    expect(generated.stderr).toBe("");
    await shows(PYTHON, [join(SAMPLES, "python/agents.py")], { PYTHONPATH: join(folder, "stubs") });
  },
  60_000,
);

const hasGo = isInstalled(GO_SAMPLE);
test.skipIf(!hasGo)(named("Go", hasGo, `${INSTALL} --samples`), () => shows(GO_SAMPLE, []), 30_000);

const hasJava = isInstalled(JAVA_CLASSPATH) && isOnPath("java");
test.skipIf(!hasJava)(
  named("Java", hasJava, `${INSTALL} --samples`),
  async () => {
    const libraries = readFileSync(JAVA_CLASSPATH, "utf8").trim();
    const classpath = [join(SAMPLES, "java/target/classes"), libraries].join(delimiter);
    await shows("java", ["-cp", classpath, "example.Agents"]);
  },
  60_000,
);

async function installPackage(): Promise<void> {
  const packed = await run(process.execPath, [join(ROOT, "scripts/pack-client.mjs"), folder]);
  expect(packed.code, packed.stderr).toBe(0);
  const into = join(folder, "node_modules", client.name);
  mkdirSync(into, { recursive: true });
  await run("tar", ["xzf", packed.stdout.trim(), "-C", into, "--strip-components=1"]);
  for (const name of [...Object.keys({ ...client.dependencies, ...client.peerDependencies }), "@types/node"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link);
  }
}

describe("Node", () => {
  beforeAll(installPackage, 60_000);

  test("the sample", async () => {
    cpSync(join(SAMPLES, "node/agents.mjs"), join(folder, "agents.mjs"));
    await shows(process.execPath, [join(folder, "agents.mjs")]);
  });

  test("the package has types, and pages over each of its ways", async () => {
    writeFileSync(join(folder, "consumer.mts"), CONSUMER);
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const strict = ["--strict", "--module", "nodenext", "--target", "es2023", "--types", "node", "--skipLibCheck"];
    const checked = await run(process.execPath, [tsc, ...strict, "consumer.mts"], { cwd: folder });
    expect(checked.stdout).toBe("");
    const { grpc_url, analyst } = program.bootstrap;
    const args = ["consumer.mjs", grpc_url, `${program.baseUrl}/rpc`, analyst.api_key];
    const done = await run(process.execPath, args, { cwd: folder });
    expect(done.stderr).toBe("");
    expect(JSON.parse(done.stdout)).toEqual(Array(4).fill(agents));
  });

  test("what it does not export cannot be reached, and its libraries are those that are tested here", async () => {
    const hidden = await run(process.execPath, ["-e", `import("${client.name}/clients/node/patience.js")`], {
      cwd: folder,
    });
    expect(hidden.stderr).toMatch(/ERR_PACKAGE_PATH_NOT_EXPORTED|ERR_MODULE_NOT_FOUND/);
    for (const [name, version] of Object.entries(client.dependencies)) expect(own.dependencies[name]).toBe(version);
    expect(client.version).toBe(own.version);
  });
});

const hasCurl = isOnPath("curl") && isOnPath("jq");
test.skipIf(!hasCurl)(
  named("curl", hasCurl, "install curl and jq"),
  () => shows("bash", [join(SAMPLES, "curl/agents.sh")], {}, [OVER_RPC]),
  30_000,
);

const hasGrpcurl = isInstalled(GRPCURL) && isOnPath("jq");
test.skipIf(!hasGrpcurl)(
  named("grpcurl", hasGrpcurl, `${INSTALL}, and install jq`),
  () => shows("bash", [join(SAMPLES, "grpcurl/agents.sh")], { GRPCURL }, []),
  30_000,
);
