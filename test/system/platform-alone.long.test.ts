import { afterEach, expect, test } from "vitest";
import { call, toolNames } from "../support/mcp.js";
import { openRelay, type Program, spawnProgram, startProgram, untilReady } from "../support/program.js";

const TOKEN = "a-registration-token-for-tests";
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function started(env: Record<string, string>): Promise<Program> {
  const program = await startProgram({ env });
  stops.push(program.stop);
  return program;
}

/** Starts one, which calls itself by an address of its own unless it is given one; resolves with where it listens. */
async function sandbox(platform: string, trust: string, publicUrl?: string): Promise<string> {
  const args = [
    "--platform",
    platform,
    "--trust",
    trust,
    ...(publicUrl === undefined ? [] : ["--public-url", publicUrl]),
  ];
  const child = spawnProgram("services/sandbox/main.js", args, { REGISTRATION_TOKEN: TOKEN });
  stops.push(child.stop);
  await untilReady(child);
  return /ready at (\S+)/.exec(child.output())?.[1] as string;
}

/** What the cti tools answer: the parts that do not depend on when or where. */
async function answersOf({ baseUrl, bootstrap }: Program) {
  const url = `${baseUrl}/mcp/cti`;
  const key = bootstrap.analyst.api_key;
  const who = await call<Record<string, unknown>>(url, key, "whoami");
  const found = await call<Record<string, unknown>>(url, key, "search_entities", {
    types: ["Intrusion-Set"],
    page_size: 5,
  });
  // A page token is the deployment's own.
  const { next_page_token, ...rest } = found;
  expect(next_page_token).toEqual(expect.any(String));
  return { tools: await toolNames(url, key), who, found: rest };
}

test("a sandbox started alone, trusted by CTI_URL, answers the cti tools as the built-in one does", async () => {
  const platform = await openRelay();
  stops.push(platform.close);
  const alone = await started({ CTI_URL: platform.url, REGISTRATION_TOKEN: TOKEN });
  platform.leadTo(await sandbox("cti", alone.baseUrl, platform.url));
  const builtIn = await started({});
  expect(await answersOf(alone)).toEqual(await answersOf(builtIn));
});

test("a platform that registers itself opens its endpoint at once", async () => {
  const program = await started({ SANDBOX: "off", REGISTRATION_TOKEN: TOKEN });
  const url = `${program.baseUrl}/mcp/aev`;
  const key = program.bootstrap.analyst.api_key;
  await expect(toolNames(url, key)).rejects.toThrow(/answered 404/);
  await sandbox("aev", program.baseUrl);
  await expect.poll(() => toolNames(url, key).catch(() => []), { timeout: 15_000 }).toContain("whoami");
  expect(JSON.stringify(await call(url, key, "whoami"))).toContain(program.bootstrap.analyst.email);
});
