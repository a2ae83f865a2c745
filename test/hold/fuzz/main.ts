// npm run test:fuzz: 200,000 inputs that nobody would send, for everything that
// reads what comes from outside, from a seed that it prints. None may end in a
// fault of ours, in an answer outside of the protocol, or keep the event loop for
// a tenth of a second, and the memory must come back.
//
//   FUZZ_SEED=8 FUZZ_INPUTS=20000 FUZZ_SECONDS=60 npm run test:fuzz -- JSON     only the targets with this in their names

import { fuzz } from "./run.js";
import { targets } from "./targets.js";

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 200_000);
/** Of each target, at most. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 1_800);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
const MAX_STALL_MS = 100;
const MAX_GROWTH = 1.2;
/** What the allocator keeps for later, whatever was asked for. */
const KEPT_BYTES = 32 * 2 ** 20;
/** What runs in a process of its own in the product: how long it takes there keeps nobody waiting. */
const APART: ReadonlySet<string> = new Set(["PDF", "docx", "answers of MCP servers"]);

// What a target waits for at its end may keep no process alive.
setInterval(() => undefined, 60_000);

const wanted = process.argv[2] ?? "";
let held = true;
const strays = new Set<string>();
process.on("unhandledRejection", (error) => strays.add(String((error as Error)?.stack ?? error)));
console.log(`seed ${SEED}\n`);
console.log("| entry point | inputs | a second | refusals | problems | longest stall ms | memory before MiB | after |");
console.log("|---|--:|--:|--:|--:|--:|--:|--:|");
for (const [name, start] of (await targets()).filter(([name]) => name.includes(wanted))) {
  const target = await start();
  const said = await fuzz(target, { inputs: INPUTS, seed: SEED, atOnce: 8, seconds: SECONDS });
  await target.close();
  // A rejection that nobody handles ends that process, and its caller is told; here it would hide which input it was of.
  const problems = [...said.problems, ...(APART.has(name) ? [] : strays)];
  strays.clear();
  const isQuick = APART.has(name) || said.stallMs < MAX_STALL_MS;
  const holds = problems.length === 0 && isQuick && said.heldAfter < said.heldBefore * MAX_GROWTH + KEPT_BYTES;
  held &&= holds;
  const row = [
    name + (holds ? "" : " **does not hold**"),
    said.inputs,
    Math.round(said.inputs / said.seconds),
    said.refusals,
    problems.length,
    said.stallMs.toFixed(0),
    (said.heldBefore / 2 ** 20).toFixed(0),
    (said.heldAfter / 2 ** 20).toFixed(0),
  ];
  console.log(`| ${row.join(" | ")} |`);
  for (const problem of problems) console.log(`  ${problem.slice(0, 1_500)}`);
}
process.exit(held ? 0 : 1);
