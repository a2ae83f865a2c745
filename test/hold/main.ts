// npm run test:hold: a thousand hostile connections of each kind in turn, ten
// seconds each, against the built program on one core, from another core and
// another address; a good key's calls must all succeed, 99 of 100 within a
// quarter of a second. Then 500 new keys at once, and a million fuzzed inputs.
//
//   npm run test:hold -- "slow body"      only the kinds whose names match this
//   EDGE=node npm run test:hold           on the edge of that name

import { type ChildProcess, spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startProgram } from "../support/program.js";
import type { Orders } from "./attacker.js";
import { startAttackers } from "./attackers.js";
import { callSteadily, type Report } from "./good-client.js";
import { KINDS } from "./kinds.js";
import { portOf } from "./ports.js";
import type { Outcome } from "./swarm.js";

const CONNECTIONS = Number(process.env.HOLD_CONNECTIONS ?? 1_000);
const SECONDS = Number(process.env.HOLD_SECONDS ?? 10);
const MAX_P99_MS = 250;
const WARM_UP_MS = 3_000;
const MOST_TO_BEGIN_MS = 15_000;
const ATTACKERS_ADDRESS = "127.0.0.2";

/** Keeps a process and all its threads on one core, where the system can. */
function pin(process: ChildProcess, core: number): void {
  spawnSync("taskset", ["-a", "-c", "-p", String(core), String(process.pid)]);
}

async function hold(orders: Orders): Promise<Report & Outcome> {
  const begun = attackers.attack(orders);
  const enough = new AbortController();
  const report = callSteadily(callers, enough.signal);
  // Only when all of them are there have they had their time; some kinds keep their own process from getting there.
  await Promise.race([begun, sleep(MOST_TO_BEGIN_MS)]);
  await sleep(SECONDS * 1_000);
  enough.abort();
  const said = await report;
  return { ...said, ...(await attackers.stop()) };
}

const wanted = new RegExp(process.argv[2] ?? "");
// On the edge that EDGE names, where it names one.
const program = await startProgram({ env: { EDGE: process.env.EDGE ?? "" } });
pin(program.process, 0);
const attackers = startAttackers();
await sleep(2_000);
pin(attackers.process, 1);
const { admin, analyst } = program.bootstrap;
const callers = { baseUrl: program.baseUrl, grpcAddress: program.grpcAddress, key: admin.api_key };
let held = true;
try {
  // What the first calls of a process cost is nobody's attack.
  const warm = new AbortController();
  const warming = callSteadily(callers, warm.signal);
  await sleep(WARM_UP_MS);
  warm.abort();
  await warming;
  console.log(`${CONNECTIONS} connections of each kind, ${SECONDS} s each\n`);
  console.log("| kind | connections | good calls | failed | p50 ms | p99 ms | max ms | RSS MiB | told |");
  console.log("|---|--:|--:|--:|--:|--:|--:|--:|---|");
  for (const kind of Object.keys(KINDS).filter((name) => wanted.test(name))) {
    const target = { host: "127.0.0.1", port: portOf(kind, program), from: ATTACKERS_ADDRESS, key: analyst.api_key };
    const said = await hold({ kind, connections: CONNECTIONS, ...target });
    const holds = said.failures.length === 0 && said.p99 < MAX_P99_MS;
    held &&= holds;
    const told = Object.entries(said.told).sort(([, a], [, b]) => b - a);
    const row = [
      kind + (holds ? "" : " **does not hold**"),
      said.opened,
      said.calls,
      said.failures.length,
      said.p50.toFixed(1),
      said.p99.toFixed(1),
      said.max.toFixed(1),
      rssOf(program.process),
      told
        .map(([what, count]) => `${what} × ${count}`)
        .slice(0, 4)
        .join(", "),
    ];
    console.log(`| ${row.join(" | ")} |`);
    for (const failure of [...new Set(said.failures)].slice(0, 3)) console.log(`  ${failure}`);
    await sleep(500);
  }
} finally {
  await attackers.end();
  await program.stop();
}
// Without a name of a kind, all that is to hold.
if (process.argv[2] === undefined) for (const other of ["new-keys.ts", "fuzz/main.ts"]) held = runs(other) && held;
process.exit(held ? 0 : 1);

function runs(file: string): boolean {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return spawnSync(process.execPath, [...process.execArgv, path], { stdio: "inherit" }).status === 0;
}

function rssOf({ pid }: ChildProcess): string {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return (Number(stdout) / 1024).toFixed(0);
}
