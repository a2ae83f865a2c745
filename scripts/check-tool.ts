// npm run check:tool -- TOOL: formats, generates, writes the docs and the
// snapshots, and says at its end all that is wrong with the tool, and what to do.
// Steps share this process or start a program directly: each start of npm costs half a second.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "yaml";
import { SERVERS } from "../services/shared/platforms.js";
import { readImports } from "../test/support/layers.js";
import { addedLines, baseOf, changedFiles, textAt } from "./changed-files.js";
import { changedProtos } from "./changed-protos.js";

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "node_modules/.bin");
const OTHERS = ["proto/buf", "proto/opentelemetry", "proto/grpc"].flatMap((path) => ["--exclude-path", path]);
/** A project of a few files, for the time of one check. */
const PROJECT = join(ROOT, "tsconfig.check-tool.json");
/** Written last, so that the code beside it is that of this image. */
const IMAGE = "proto/gen/api.binpb";
const RELEASED = "proto/released.binpb";
/** What vitest says of each test. */
const REPORT = join(ROOT, "node_modules/.check-tool.json");
/** What the types of GraphQL documents are made from. */
const TYPES_CTI = /^services\/(?:sandbox\/cti\/sdl|platform-proxy\/platforms\/cti\/)/;
/** Tests that call the tool and are run here, besides those that were changed. */
const MOST_TESTS = 2;
/** Tests that hold for every tool, less those that only ask whether the rules themselves are right. */
const EVERY_TOOL = [
  ...["api", "forms", "found", "ids", "style"].map((file) => `test/proto/${file}.test.ts`),
  ...["named", "layers", "documented", "scripts/resources"].map((file) => `test/${file}.test.ts`),
  "test/services/platform-proxy/needs.test.ts",
  "test/system/wrong-ids/made-arguments.test.ts",
  "test/services/shared/tools/required.test.ts",
  "test/services/platform-proxy/platforms/aev/tools.test.ts",
  "test/services/platform-proxy/platforms/grc/bindings.test.ts",
];

/** Tests of every tool that take minutes, or the built program. */
const FOR_CI = ["test/answers", "test/system/wrong-ids.test.ts", "test/system/reading-tools.test.ts"];
/** Less tests of what no tool changes, by their names: they load the whole command line. */
const TESTS = "^(?!.*(verbs that callers are told|command line))";

const name = process.argv[2] ?? fail(["which tool? npm run check:tool -- list_scenarios, or grc/list_incidents"]);
if ((SERVERS as readonly string[]).includes(name)) fail([`${name} is a server: give the name of a tool`]);
const wrong: string[] = [];
const base = baseOf(ROOT);
const changed = changedFiles(ROOT, base);
process.stdout.write(`${changed.length} files differ from ${base.slice(0, 7)}, where this branch left main\n`);

const protos = changed.filter((file) => file.endsWith(".proto") && existsSync(join(ROOT, file)));
const inProto = "correct the .proto file where the message above points";
if (protos.length > 0) check(inProto, "buf", ["format", "-w", "proto", ...OTHERS]);
generate();
if (wrong.length > 0) fail(wrong);
await writePages();

const code = [...new Set([...changed, ...changedFiles(ROOT, base)])].filter((file) => existsSync(join(ROOT, file)));
const sources = code.filter((file) => /\.(ts|mjs|json)$/.test(file) && !/^test\/snapshots\//.test(file));
if (sources.length > 0) check("correct what biome names above", "biome", ["check", "--write", ...sources]);

const { lacksOf } = await import("./tool-lacks.js");
const tests = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => ({ path: `test/${file}`, text: readFileSync(join(ROOT, "test", file), "utf8") }));
const { tool, lacks, calling } = await lacksOf(name, tests, read("docs/answer-sizes.md"));
wrong.push(...lacks);
if (tool !== undefined && listingAt(read, tool) !== listingAt((file) => textAt(ROOT, base, file), tool)) {
  if (!addedLines(ROOT, base, "CHANGELOG.md").some((line) => line.includes(tool.name)))
    wrong.push(`CHANGELOG.md has no new line that names ${tool.name}: say under "Unreleased" what users see`);
}

if (protos.length > 0) {
  const only = protos.flatMap((file) => ["--path", file]);
  check("correct what buf names above (docs/api-style.md)", "buf", ["lint", ...only]);
  check("a released name or number changed: put it back", "buf", ["breaking", IMAGE, "--against", RELEASED]);
}
// Tests of other services and of the built program take minutes: CI runs them.
const near = calling.filter((path) => path.startsWith("test/services/") && !path.includes("/sandbox/"));
const ofTool = [...new Set([...near.filter((path) => code.includes(path)), ...near.slice(0, MOST_TESTS)])];
checkTypes();
const run = [...new Set([...EVERY_TOOL, ...ofTool])];
const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${REPORT}`];
const passed = check("see the messages above", "vitest", ["run", "--maxWorkers=1", ...reporters, "-t", TESTS, ...run]);
if (!passed) wrong.push(...failedTests());

spawnSync("git", ["--no-pager", "diff", "--stat", base, "--", "docs", "README.md", "test/snapshots"], {
  cwd: ROOT,
  stdio: "inherit",
});
const rest = [...calling.filter((path) => !run.includes(path)), ...FOR_CI];
process.stdout.write(`Not run here, CI runs them: ${rest.join(" ")}\n`);
if (wrong.length > 0) fail(wrong);
process.stdout.write(`${name}: nothing is missing; read the difference of its snapshot like an API review\n`);

/** A tool's entry in the snapshot of its server, as JSON; "" if it has none. */
function listingAt(textOf: (file: string) => string, { server, name: own }: { server: string; name: string }): string {
  const entries = JSON.parse(textOf(`test/snapshots/tools/${server}.json`) || "[]") as { name: string }[];
  return JSON.stringify(entries.find((entry) => entry.name === own) ?? "");
}

/** The tests that failed, each with the first line of its message. */
function failedTests(): string[] {
  const { testResults } = JSON.parse(readFileSync(REPORT, "utf8")) as Report;
  return testResults.flatMap(({ name: path, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(
        ({ title, failureMessages: [message = ""] }) =>
          `${relative(ROOT, path)}, "${title}": ${message.split("\n")[0]}`,
      ),
  );
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Writes proto/gen as far as the API is another one than it was written from. */
function generate(): void {
  const image = join(ROOT, "node_modules/.check-tool.binpb");
  if (!check(inProto, "buf", ["build", "-o", image])) return;
  const files = changedProtos(join(ROOT, IMAGE), image);
  if (files === undefined) return void check(inProto, "npm", ["run", "-s", "generate:api"]);
  const template = { ...parse(readFileSync(join(ROOT, "buf.gen.yaml"), "utf8")), clean: false };
  const only = files.flatMap((file) => ["--path", `proto/${file}`]);
  if (files.length > 0 && !check(inProto, "buf", ["generate", "--template", JSON.stringify(template), ...only])) return;
  if (changed.some((file) => TYPES_CTI.test(file)))
    check("correct the documents or the schema", "tsx", ["scripts/generate-cti-schema.ts"]);
  renameSync(image, join(ROOT, IMAGE));
}

/** Loaded only now, since it reads what was generated. */
async function writePages(): Promise<void> {
  const { write } = await import("./docs.js");
  write();
}

/** Checks the types of what was changed, and of what imports it. */
function checkTypes(): void {
  const generated = protos.map((file) => file.replace(/^proto\/(.*)\.proto$/, "#proto/$1_pb.js"));
  const touched = new Set([...sources, ...generated]);
  const importing = readImports(["services", "facade", "clients", "scripts", "test"])
    .filter(({ to }) => touched.has(to))
    .map(({ from }) => from);
  const files = [...sources, ...importing].filter((file) => file.endsWith(".ts"));
  if (files.length === 0) return;
  const compilerOptions = { noEmit: true };
  const project = { extends: "./tsconfig.json", compilerOptions, include: [], files: [...new Set(files)] };
  writeFileSync(PROJECT, JSON.stringify(project));
  try {
    check("correct the types that tsc names above", "tsc", ["-p", PROJECT]);
  } finally {
    rmSync(PROJECT);
  }
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** Runs a program; what is to be done if it fails is said at the end. */
function check(then: string, program: string, args: readonly string[]): boolean {
  const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}` };
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: "inherit", env });
  if (status !== 0) wrong.push(`\`${program} ${args.slice(0, 2).join(" ")}\` failed: ${then}`);
  return status === 0;
}

function fail(reasons: readonly string[]): never {
  process.stderr.write(`\nWrong, and what to do:\n${reasons.map((reason) => `- ${reason}`).join("\n")}\n`);
  process.exit(1);
}
