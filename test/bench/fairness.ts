// What a key that floods costs another: the median answer of one closed loop,
// alone and beside 64 connections of another key, by turns in one run.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { modern } from "../facade/support/client.js";
import { load, requestBytes, times } from "./load.js";
import type { Work } from "./servers/nothing.js";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const RUN_MS = Number(process.env.BENCH_MS ?? 1_000);
const FLOOD = 64;
/** The flooding key is on its way before the other begins, in milliseconds. */
const HEAD_START_MS = 200;

const WORKS: readonly Work[] = [
  { passes: 1, ms: 0 },
  { passes: 1, ms: 1 },
  { passes: 6, ms: 0.2 },
  { passes: 10, ms: 0.5 },
];

/** As a process of its own, so that the flood has the other core. */
function flood(): void {
  process.on("message", async ({ port }: { readonly port: number }) => {
    const answers = await load({ port, requests: [callOf("good")], connections: FLOOD }, RUN_MS + 2 * HEAD_START_MS);
    process.send?.(answers);
  });
  process.on("disconnect", () => process.exit());
}

function callOf(key: string): Buffer {
  const { body, headers } = modern("tools/call", { name: "echo_sighting", arguments: { word: "hi" } });
  return requestBytes("/mcp/cti", { authorization: `Bearer ${key}`, ...headers }, JSON.stringify(body));
}

const at = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] as number;

async function measure(work: Work): Promise<void> {
  const server = fork(fileURLToPath(new URL("servers/facade.js", import.meta.url)));
  const flooder = fork(fileURLToPath(import.meta.url), ["flood"]);
  const port = await new Promise<number>((resolve) => {
    server.once("message", (answer) => resolve((answer as { port: number }).port));
    server.send({ work });
  });
  const other = callOf("other");
  await times(port, other, HEAD_START_MS);
  const alone: number[] = [];
  const beside: number[] = [];
  let answers = 0;
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(...(await times(port, other, RUN_MS)));
    const flooded = new Promise<number>((resolve) => flooder.once("message", (count) => resolve(count as number)));
    flooder.send({ port });
    await new Promise((resolve) => setTimeout(resolve, HEAD_START_MS));
    beside.push(...(await times(port, other, RUN_MS)));
    answers += await flooded;
  }
  const [own, told] = [at(alone, 0.5), at(beside, 0.5)];
  const rate = Math.round((answers * 1_000) / ((RUN_MS + 2 * HEAD_START_MS) * ROUNDS));
  process.stdout.write(
    `${work.passes} × ${work.ms} ms: alone ${own.toFixed(2)} ms, beside ${FLOOD} connections ${told.toFixed(2)} ms ` +
      `(${(told / own).toFixed(1)} ×, p99 ${at(beside, 0.99).toFixed(2)}), the flood ${rate}/s\n`,
  );
  for (const child of [server, flooder]) child.disconnect();
}

if (process.argv[2] === "flood") flood();
else for (const work of WORKS) await measure(work);
