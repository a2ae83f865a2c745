// npm run check:tool -- NAME: generates, writes the docs and the snapshots, says
// all that the tool lacks at once, and runs the tests that call it.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const [name] = process.argv.slice(2);
if (name === undefined) fail(["which tool? npm run check:tool -- whoami"]);

// Before anything is loaded that is generated.
run("npm", ["run", "-s", "generate"]);
const { lacksOf } = await import("./tool-lacks.js");
const tests = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => ({ path: `test/${file}`, text: readFileSync(join(ROOT, "test", file), "utf8") }));
const { lacks, calling } = await lacksOf(name, tests);
const wrong = [...lacks];
if (differs("test/snapshots") && !differs("CHANGELOG.md")) wrong.push("CHANGELOG.md has no line for what a user sees");
for (const [program, args] of [
  ["npx", ["buf", "lint"]],
  ["npx", ["tsc", "--noEmit"]],
  ["npx", ["vitest", "run", "--reporter=dot", "test/proto", "test/scripts/docs.test.ts", ...calling]],
] as const) {
  if (!run(program, args)) wrong.push(`\`${program} ${args.slice(0, 2).join(" ")}\` failed: see above`);
}
spawnSync("git", ["--no-pager", "diff", "--stat", "--", "docs", "test/snapshots"], { cwd: ROOT, stdio: "inherit" });
if (wrong.length > 0) fail(wrong);
process.stdout.write(`${name}: nothing is missing; read the difference of its snapshot like an API review\n`);

/** Whether what lies there is another than on main. */
function differs(path: string): boolean {
  return spawnSync("git", ["diff", "--quiet", "main", "--", path], { cwd: ROOT }).status === 1;
}

function run(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { cwd: ROOT, stdio: "inherit" }).status === 0;
}

function fail(reasons: readonly string[]): never {
  process.stderr.write(`${reasons.map((reason) => `- ${reason}`).join("\n")}\n`);
  process.exit(1);
}
