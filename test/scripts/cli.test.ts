import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

// npm run -s cli, with a client in the place of ours.

const SCRIPTS = join(import.meta.dirname, "../../scripts");

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  cpSync(SCRIPTS, join(dir, "scripts"), { recursive: true });
  for (const [file, text] of [
    ["dist/services/main.js", ""],
    ["dist/clients/cli/main.js", "console.log('the client runs');"],
    ["package.json", '{"type":"module"}'],
  ] as const) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
});
afterEach(() => rmSync(dir, { recursive: true }));

const cli = () => spawnSync(process.execPath, ["scripts/cli.mjs"], { cwd: dir, encoding: "utf8" });

test("where a service is installed, the client runs and nothing is installed or built", () => {
  expect(cli()).toMatchObject({ status: 0, stdout: "the client runs\n", stderr: "" });
});

test("in a checkout with the packages that build it, what is stale is built first", () => {
  mkdirSync(join(dir, "node_modules/typescript"), { recursive: true });
  // It has no lock file, so bringing it up to date fails.
  const { status, stdout, stderr } = cli();
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("package-lock.json");
});
