import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { type Program, startProgram } from "../support/program.js";

// The package of clients/node as somebody has it who installed its tarball into
// an empty folder: nothing of this repository but what was packed.

const ROOT = join(import.meta.dirname, "../..");
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
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-integrator-"));
  const packed = await run(process.execPath, [join(ROOT, "scripts/pack-client.mjs"), folder]);
  expect(packed.code, packed.stderr).toBe(0);
  const into = join(folder, "node_modules", client.name);
  mkdirSync(into, { recursive: true });
  spawnSync("tar", ["xzf", packed.stdout.trim(), "-C", into, "--strip-components=1"]);
  for (const name of [...Object.keys({ ...client.dependencies, ...client.peerDependencies }), "@types/node"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link);
  }
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  program = await startProgram();
}, 90_000);
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

test("it imports, pages and calls over each of its ways, with types", async () => {
  writeFileSync(join(folder, "consumer.ts"), CONSUMER);
  const strict = ["--strict", "--module", "nodenext", "--target", "es2023", "--types", "node", "--skipLibCheck"];
  const tsc = await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...strict, "consumer.ts"], {
    cwd: folder,
  });
  expect(tsc.stdout).toBe("");
  const { admin, grpc_url } = program.bootstrap;
  const done = await run(process.execPath, ["consumer.js", grpc_url, `${program.baseUrl}/rpc`, admin.api_key], {
    cwd: folder,
  });
  expect(done.stderr).toBe("");
  const counts = JSON.parse(done.stdout) as number[];
  expect(counts).toEqual(Array(4).fill(counts[0]));
  expect(counts[0]).toBeGreaterThan(2);
}, 60_000);

test("what is not in its exports cannot be reached, and its libraries are those that are tested here", async () => {
  const hidden = await run(process.execPath, ["-e", 'import("@sallyport/client/clients/node/patience.js")'], {
    cwd: folder,
  });
  expect(hidden.stderr).toMatch(/ERR_PACKAGE_PATH_NOT_EXPORTED|ERR_MODULE_NOT_FOUND/);
  for (const [name, version] of Object.entries(client.dependencies)) expect(own.dependencies[name]).toBe(version);
  expect(client.version).toBe(own.version);
});
