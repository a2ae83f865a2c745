import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, startProgram } from "../support/program.js";
import { type Attackers, startAttackers } from "./attackers.js";
import { callSteadily } from "./good-client.js";
import { KINDS } from "./kinds.js";
import { portOf } from "./ports.js";

// The bounded form of `npm run test:hold`: twenty-five connections of each kind
// for a quarter of a second. What time calls take is measured there, on
// cores of their own; here it is that none fails.

const CONNECTIONS = 25;
const MS = 250;
/** Linux answers on the whole of 127.0.0.0/8. */
const ATTACKERS_ADDRESS = process.platform === "linux" ? "127.0.0.2" : "";

let program: Program;
let attackers: Attackers;
beforeAll(async () => {
  attackers = startAttackers();
  program = await startProgram();
});
afterAll(async () => {
  await attackers?.end();
  await program?.stop();
});

test.each(Object.keys(KINDS))("a good key is served beside: %s", async (kind) => {
  const { baseUrl, grpcAddress, bootstrap } = program;
  const target = {
    host: "127.0.0.1",
    port: portOf(kind, program),
    from: ATTACKERS_ADDRESS,
    key: bootstrap.analyst.api_key,
  };
  const begun = attackers.attack({ kind, connections: CONNECTIONS, ...target });
  const enough = new AbortController();
  const report = callSteadily({ baseUrl, grpcAddress, key: bootstrap.admin.api_key }, enough.signal);
  await begun;
  await sleep(MS);
  enough.abort();
  const { calls, failures } = await report;
  const { opened } = await attackers.stop();
  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(0);
  expect(opened).toBeGreaterThanOrEqual(CONNECTIONS);
});
