import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, startProgram } from "../support/program.js";
import { ATTACKS } from "./answers/attacks.js";
import { type Host, startHost } from "./answers/hosts.js";
import { callBeside } from "./answers/steady.js";

// The bounded form of `npm run test:hold:answers`: a few of its attacks. What is measured there in
// milliseconds is here that nobody waits for long; without threads each of these stopped the service for more.

const LONGEST_MS = 3_000;
const SOME = [
  "MCP: 60,000 tools with one name",
  "MCP: 7 MB of output schemas",
  "MCP: an output schema whose pattern takes for ever",
  "MCP: 60,000 pings before the answer",
  "model: arguments that are nested 20,000 deep",
  "model: 10,000 calls at once",
  "embedder: 7 million numbers",
];

let program: Program;
let host: Host;
beforeAll(async () => {
  [program, host] = await Promise.all([startProgram(), startHost()]);
});
afterAll(async () => {
  host?.end();
  await program?.stop();
});

test.each(SOME)("others are served beside %s", async (kind) => {
  const { baseUrl, bootstrap } = program;
  const target = { url: `${baseUrl}/mcp/core`, key: bootstrap.analyst.api_key, host: host.url };
  const enough = new AbortController();
  const calling = callBeside(baseUrl, bootstrap.admin.api_key, enough.signal);
  await sleep(100);
  const said = await ATTACKS[kind]!(target);
  enough.abort();
  const { failures, longest } = await calling;
  expect(failures).toEqual([]);
  expect(longest).toBeLessThan(LONGEST_MS);
  expect(said).toMatch(/run (?:completed|failed)|document /);
});
