// npm run check:tool -- NAME: formats, generates, writes the docs and the
// snapshots, and says at its end all that is wrong with the tool, and what to do.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "node_modules/.bin");
const OTHERS = ["proto/buf", "proto/opentelemetry", "proto/grpc"].flatMap((path) => ["--exclude-path", path]);
/** A project of a few files, for the time of one check. */
const PROJECT = join(ROOT, "tsconfig.check-tool.json");
/** Test files that call the tool and are run here, those that were changed first. */
const MOST_TESTS = 2;
const [name] = process.argv.slice(2);
if (name === undefined) fail(["which tool? npm run check:tool -- whoami"]);

const wrong: string[] = [];
check("correct the .proto file where the message above points", "buf", ["format", "-w", "proto", ...OTHERS]);
// Before anything is loaded that is generated.
check("correct the .proto file where the message above points", "npm", ["run", "-s", "generate:api"]);
if (wrong.length > 0) fail(wrong);
check("correct what the message above names", "tsx", ["--conditions=house:source", "scripts/docs.ts"]);

const changed = changedFiles();
const code = changed.filter((file) => /\.(ts|mjs|json)$/.test(file) && existsSync(join(ROOT, file)));
if (code.length > 0) check("correct what biome names above", "biome", ["check", "--write", ...code]);

const { lacksOf } = await import("./tool-lacks.js");
const tests = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => ({ path: `test/${file}`, text: readFileSync(join(ROOT, "test", file), "utf8") }));
const { lacks, calling } = await lacksOf(name, tests);
wrong.push(...lacks);
if (changed.some((file) => file.startsWith("test/snapshots/")) && !changed.includes("CHANGELOG.md"))
  wrong.push("CHANGELOG.md has no line for this change: add one that says what users see");

check("correct what buf names above (docs/api-style.md)", "buf", ["lint"]);
check("a released name or number changed: put it back", "npm", ["run", "-s", "breaking"]);
// Tests of other services and of the built program take minutes: CI runs them.
const near = calling.filter((path) => path.startsWith("test/services/") && !path.includes("/sandbox/"));
const run = [...new Set([...near.filter((path) => changed.includes(path)), ...near])].slice(0, MOST_TESTS);
writeFileSync(
  PROJECT,
  JSON.stringify({
    extends: "./tsconfig.json",
    compilerOptions: { noEmit: true },
    include: [],
    files: [...new Set([...code.filter((file) => file.endsWith(".ts")), ...run, "services/platform-proxy/parts.ts"])],
  }),
);
try {
  check("correct the types that tsc names above", "tsc", ["-p", PROJECT]);
} finally {
  rmSync(PROJECT);
}
const around = ["test/proto", "test/scripts/docs.test.ts", "test/scripts/resources.test.ts"];
check("a test failed: see above", "vitest", ["run", "--reporter=dot", ...around, ...run]);

spawnSync("git", ["--no-pager", "diff", "--stat", "main", "--", "docs", "test/snapshots"], {
  cwd: ROOT,
  stdio: "inherit",
});
const rest = calling.filter((path) => !run.includes(path));
if (rest.length > 0) process.stdout.write(`Not run here, CI runs them: ${rest.join(" ")}\n`);
if (wrong.length > 0) fail(wrong);
process.stdout.write(`${name}: nothing is missing; read the difference of its snapshot like an API review\n`);

/** The files that differ from the last commit, new ones included. */
function changedFiles(): string[] {
  const lines = (...args: string[]): string[] =>
    spawnSync("git", args, { cwd: ROOT, encoding: "utf8" }).stdout.split("\n").filter(Boolean);
  const changed = lines("diff", "--name-only", "HEAD");
  return [...new Set([...changed, ...lines("ls-files", "--others", "--exclude-standard")])];
}

function check(then: string, program: string, args: readonly string[]): void {
  const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}` };
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: "inherit", env });
  if (status !== 0) wrong.push(`\`${program} ${args.slice(0, 2).join(" ")}\` failed: ${then}`);
}

function fail(reasons: readonly string[]): never {
  process.stderr.write(`\nWrong, and what to do:\n${reasons.map((reason) => `- ${reason}`).join("\n")}\n`);
  process.exit(1);
}
