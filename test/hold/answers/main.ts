// npm run test:hold:answers: every hostile remote MCP server, model, embedder and
// document, one after another, then all of them at once, against the built program,
// while another caller calls steadily; and the program is killed while one holds a run.
//
//   npm run test:hold:answers -- "60,000"      only those whose names match this

import { setTimeout as sleep } from "node:timers/promises";
import { startProgram } from "../../support/program.js";
import { attackAtOnce } from "./at-once.js";
import { ATTACKS, type Attack, documented, forgetDocuments } from "./attacks.js";
import { startHost } from "./hosts.js";
import { restart } from "./restart.js";
import { beside, quietly } from "./steady.js";
import { memoryOf, printHead, printRow } from "./table.js";

const QUIET_MS = 5_000;
/** Memory that is not given back within this is kept. */
const BACK_MS = 60_000;
/** Processes end ten seconds after their last call; the heap of the serving loop and what the system's allocator keeps shrink later. */
const KEPT_MIB = 128;

const wanted = new RegExp(process.argv[2] ?? "");
const host = await startHost();
const program = await startProgram();
const { admin, analyst } = program.bootstrap;
const target = { url: `${program.baseUrl}/mcp/core`, key: analyst.api_key, host: host.url };
const served = { baseUrl: program.baseUrl, key: admin.api_key };
const memory = (): number => memoryOf(program.process.pid);
const all: [string, Attack][] = [...Object.entries(ATTACKS), ["at once: every attack", attackAtOnce]];

async function attack(name: string, one: Attack): Promise<boolean> {
  // The machine may be busy with more than this: each attack is compared with the moment before it.
  const quiet = await quietly(served, QUIET_MS / 8);
  return printRow(name, await beside(served, () => one(target)), quiet, memory());
}

let held = true;
try {
  // The built-in model is at work after the attacks, too: it is no hostile document's memory.
  await documented(target, {}, { content: "A text.", type: "text" });
  await quietly(served, QUIET_MS);
  const { p99, longest } = await quietly(served, QUIET_MS);
  const before = memory();
  console.log(`quiet: p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms, ${before.toFixed(0)} MiB\n`);
  printHead();
  for (const [name, one] of all.filter(([one]) => wanted.test(one))) held = (await attack(name, one)) && held;
  // The documents of the slowest are still read otherwise: an attack has an end.
  await forgetDocuments(target);
  const until = Date.now() + BACK_MS;
  while (memory() > before + KEPT_MIB && Date.now() < until) await sleep(1_000);
  const isBack = memory() <= before + KEPT_MIB;
  held &&= isBack;
  const after = `${before.toFixed(0)} MiB before, ${memory().toFixed(0)} MiB after`;
  console.log(`| memory${isBack ? "" : " **does not hold**"} | | | | | | ${memory().toFixed(0)} | ${after} |`);
  held = (await restart(host, wanted)) && held;
} finally {
  host.end();
  await program.stop();
}
process.exit(held ? 0 : 1);
