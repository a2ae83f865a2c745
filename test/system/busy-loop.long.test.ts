import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// A process that is stopped for longer than its lease wakes up like one whose event loop was busy for as long.

let program: Program;
beforeAll(async () => {
  program = await startProgram();
});
afterAll(() => program?.stop());

const STOPPED_MS = 7_500;

test("after a loop that was busy for longer than the lease no good key is refused", async () => {
  const key = program.bootstrap.analyst.api_key;
  const url = (server: string) => `${program.baseUrl}/mcp/${server}`;
  const calls = [
    ["cti", "search_all", { query: "a" }],
    ["core", "list_agents", {}],
    ["cti", "list_reports", {}],
  ] as const;
  const said = new Set<string>();
  let isOver = false;
  const callers = Array.from({ length: 45 }, async (_, at) => {
    const [server, name, args] = calls[at % 3] as (typeof calls)[number];
    while (!isOver) {
      const { status, text } = await post(url(server), key, "tools/call", { name, arguments: args });
      said.add(`${status} ${/API key|try again|"isError"|"error"/.exec(text)?.[0] ?? "answered"}`);
    }
  });
  for (let round = 0; round < 2; round++) {
    await sleep(500);
    program.process.kill("SIGSTOP");
    await sleep(STOPPED_MS);
    program.process.kill("SIGCONT");
  }
  await sleep(1_000);
  isOver = true;
  await Promise.all(callers);
  expect([...said]).toEqual(["200 answered"]);
});
