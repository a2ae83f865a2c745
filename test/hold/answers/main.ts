// npm run test:hold:answers: every hostile remote MCP server, model, embedder and
// document, one after another, against the built program, while another caller
// calls steadily.
//
//   npm run test:hold:answers -- "60,000"      only those whose names match this

import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { startProgram } from "../../support/program.js";
import { ATTACKS } from "./attacks.js";
import { startHost } from "./hosts.js";
import { callBeside, type Noticed } from "./steady.js";

const QUIET_MS = 5_000;
const MAX_P99_MS = 250;
/** Memory that is not given back within this is kept. */
const BACK_MS = 60_000;
const KEPT_MIB = 128;

const wanted = new RegExp(process.argv[2] ?? "");
const host = await startHost();
const program = await startProgram();
const { admin, analyst } = program.bootstrap;
const target = { url: `${program.baseUrl}/mcp/core`, key: analyst.api_key, host: host.url };

/** What other callers notice while something goes on. */
async function beside<T>(what: () => Promise<T>): Promise<{ readonly noticed: Noticed; readonly said: T | Error }> {
  const enough = new AbortController();
  const calling = callBeside(program.baseUrl, admin.api_key, enough.signal);
  const said = await what().catch((error: Error) => error);
  enough.abort();
  return { noticed: await calling, said };
}

const rss = (): number =>
  Number(spawnSync("ps", ["-o", "rss=", "-p", String(program.process.pid)], { encoding: "utf8" }).stdout) / 1024;

let held = true;
try {
  await beside(() => sleep(QUIET_MS));
  const { noticed: quiet } = await beside(() => sleep(QUIET_MS));
  const before = rss();
  console.log(
    `quiet: p99 ${quiet.p99.toFixed(1)} ms, longest ${quiet.longest.toFixed(1)} ms, ${before.toFixed(0)} MiB\n`,
  );
  console.log("| attack | good calls | failed | p99 ms | longest ms | RSS MiB | what its user is told |");
  console.log("|---|--:|--:|--:|--:|--:|---|");
  for (const [name, attack] of Object.entries(ATTACKS).filter(([one]) => wanted.test(one))) {
    // The machine may be busy with more than this: each attack is compared with the moment before it.
    const { noticed: quiet } = await beside(() => sleep(QUIET_MS / 4));
    const { noticed, said } = await beside(() => attack(target));
    const isSlow = noticed.p99 > Math.max(MAX_P99_MS, 3 * quiet.p99);
    const holds = noticed.failures.length === 0 && !isSlow && !(said instanceof Error);
    held &&= holds;
    const told = String(said instanceof Error ? said.message : said).replace(/\s+/g, " ");
    const { calls, failures, p99, longest } = noticed;
    const row = [
      name + (holds ? "" : " **does not hold**"),
      ...[calls, failures.length, p99.toFixed(1), longest.toFixed(1), rss().toFixed(0)],
      told.slice(0, 240).replaceAll("|", "\\|"),
    ];
    console.log(`| ${row.join(" | ")} |`);
    for (const failure of [...new Set(failures)].slice(0, 3)) console.log(`  ${failure}`);
  }
  const until = Date.now() + BACK_MS;
  while (rss() > before + KEPT_MIB && Date.now() < until) await sleep(1_000);
  const isBack = rss() <= before + KEPT_MIB;
  held &&= isBack;
  console.log(
    `\nmemory: ${before.toFixed(0)} MiB before, ${rss().toFixed(0)} MiB after${isBack ? "" : " **not given back**"}`,
  );
} finally {
  host.end();
  await program.stop();
}
process.exit(held ? 0 : 1);
