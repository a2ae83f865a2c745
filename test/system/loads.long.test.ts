import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { spawnProgram, untilReady } from "../support/program.js";

const RECORDER = join(import.meta.dirname, "../support/record-loaded.mjs");
const DIST = pathToFileURL(join(import.meta.dirname, "../../dist/")).href;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Starts the built program; once it is ready, gives what tells the files that it has loaded. */
async function started(args: readonly string[], env: Record<string, string>): Promise<() => string[]> {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  const LOADED = join(dir, "loaded");
  const child = spawnProgram("services/main.js", args, {
    PORT: "0",
    GRPC_PORT: "0",
    DATA_DIR: join(dir, "data"),
    NODE_OPTIONS: `--import=${RECORDER}`,
    LOADED,
    ...env,
  });
  ends.push(child.stop);
  await untilReady(child);
  return () => readFileSync(LOADED, "utf8").trim().split("\n");
}

const loadedBy = async (args: readonly string[], env: Record<string, string>) => (await started(args, env))();

/** The rooms that modules of ours stand in: services/auth, services/sandbox/cti, facade/http … A chunk names its modules. */
function roomsOf(loaded: readonly string[]): string[] {
  const chunks = loaded.filter((url) => url.startsWith(DIST)).map((url) => readFileSync(fileURLToPath(url), "utf8"));
  const modules = chunks.flatMap((chunk) => [...chunk.matchAll(/^\/\/(?:#region)? ((?:services|facade)\/.+)\.ts$/gm)]);
  const rooms = modules.map(
    ([, path = ""]) => /^(?:services\/(?:sandbox\/)?[^/]+|facade\/[^/]+)/.exec(path)?.[0] ?? path,
  );
  return [...new Set(rooms)].sort();
}

const loadsEdge = (loaded: readonly string[]) => loaded.some((url) => /\/node_modules\/uWebSockets\.js\//.test(url));
/** What any process of services loads: the entry, the launcher with the settings of all, and what services share. */
const ANY = ["facade/config", "services/launcher", "services/main", "services/shared"];
const ELSEWHERE = { SERVICE_KEY: "of-another-process", AUTH_URL: "http://127.0.0.1:9" };

test("catalogue alone loads no façade, no sandbox and no other service", async () => {
  const loaded = await loadedBy(["--services", "catalogue", "--workers", "0"], ELSEWHERE);
  expect(roomsOf(loaded)).toEqual([...ANY, "services/catalogue"].sort());
  // Its lane is served by it.
  expect(loadsEdge(loaded)).toBe(true);
});

test("auth alone loads auth, and nothing of µWebSockets.js if it is not wanted", async () => {
  const loaded = await loadedBy(["--services", "auth", "--workers", "0", "--edge", "node"], {});
  expect(roomsOf(loaded)).toEqual([...ANY, "services/auth"].sort());
  expect(loadsEdge(loaded)).toBe(false);
});

test("without the sandbox none is loaded", async () => {
  const loaded = await loadedBy([], { SANDBOX: "off" });
  expect(roomsOf(loaded)).toContain("facade/http");
  expect(roomsOf(loaded).filter((room) => room.startsWith("services/sandbox"))).toEqual([]);
  expect(loadsEdge(loaded)).toBe(true);
});

test("a built-in platform in whose place a real one stands is not loaded", async () => {
  const real = { CTI_URL: "http://127.0.0.1:9", AEV_URL: "http://127.0.0.1:9" };
  const loaded = await started(["--services", "auth,catalogue,platform-proxy", "--workers", "0"], real);
  const sandboxes = () => roomsOf(loaded()).filter((room) => /^services\/sandbox\/(cti|aev|grc)$/.test(room));
  // It is opened a moment after the start.
  await expect.poll(sandboxes).toEqual(["services/sandbox/grc"]);
});
