import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

// What npm start hands on to the service: npm itself, our script of that name, and
// in the service's place one that says which signal it was given.

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  scripts: { start: string };
};
const STAND_IN = `
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => setTimeout(() => {
  console.log("given " + signal);
  process.exit(7);
}, 100));
setInterval(() => undefined, 1_000);
console.log("ready");
`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  mkdirSync(join(dir, "scripts"));
  writeFileSync(join(dir, "package.json"), JSON.stringify({ scripts: { start: scripts.start } }));
  writeFileSync(join(dir, "scripts/start.mjs"), STAND_IN);
});
afterEach(() => rmSync(dir, { recursive: true }));

test.skipIf(process.platform === "win32").each(["SIGTERM", "SIGINT"] as const)(
  "npm start hands %s on, and ends when the service has, with its exit code",
  async (signal) => {
    const npm = spawn("npm", ["start"], { cwd: dir, stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    npm.stdout.on("data", (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said, { timeout: 20_000 }).toContain("ready");
    npm.kill(signal);
    const [code] = await once(npm, "exit");
    expect([code, said]).toEqual([7, expect.stringContaining(`given ${signal}`)]);
  },
);
