// npm run test:fuzz: a million inputs that nobody would send, from a seed that
// it prints: requests of JSON-RPC, frames of gRPC, answers of platforms. None may
// end in a fault of ours or keep the event loop for a tenth of a second, and the
// memory must come back.
//
//   FUZZ_SEED=8 FUZZ_INPUTS=20000 npm run test:fuzz -- JSON     only the targets with this in their names

import { fuzzGrpcFrames } from "./grpc-frames.js";
import { fuzzJsonRpc } from "./json-rpc.js";
import { fuzzPlatformAnswers } from "./platform-answers.js";
import { fuzz } from "./run.js";

const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_000_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
const MAX_STALL_MS = 100;
const MAX_GROWTH = 1.2;
/** Each target's part of the inputs. */
const TARGETS = [
  ["JSON-RPC", fuzzJsonRpc, 0.35],
  ["gRPC frames", fuzzGrpcFrames, 0.45],
  ["platform answers", fuzzPlatformAnswers, 0.2],
] as const;

const wanted = process.argv[2] ?? "";
let held = true;
console.log(`seed ${SEED}\n`);
console.log("| target | inputs | a second | problems | longest stall ms | RSS before MiB | after |");
console.log("|---|--:|--:|--:|--:|--:|--:|");
for (const [name, start, part] of TARGETS.filter(([name]) => name.includes(wanted))) {
  const target = await start();
  const said = await fuzz(target, { inputs: Math.round(INPUTS * part), seed: SEED, atOnce: 8 });
  await target.close();
  const holds =
    said.problems.length === 0 && said.stallMs < MAX_STALL_MS && said.rssAfter < said.rssBefore * MAX_GROWTH;
  held &&= holds;
  const row = [
    name + (holds ? "" : " **does not hold**"),
    said.inputs,
    Math.round(said.inputs / said.seconds),
    said.problems.length,
    said.stallMs.toFixed(0),
    (said.rssBefore / 2 ** 20).toFixed(0),
    (said.rssAfter / 2 ** 20).toFixed(0),
  ];
  console.log(`| ${row.join(" | ")} |`);
  for (const problem of said.problems) console.log(`  ${problem.slice(0, 1_000)}`);
}
process.exit(held ? 0 : 1);
