// The first search (QUERY) after a start, among 20,000 passages (PASSAGES), and what others wait meanwhile:
// npm run compile && node build/test/knowledge/first-search.js

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { fill } from "../bench/fill-knowledge.js";
import { as, startRig } from "../services/core-objects/rig.js";

const COUNT = Number(process.env.PASSAGES ?? 20_000);
const SEARCHES = 100;
const { createKnowledgeBase, searchKnowledge, listKnowledgeBases } = KnowledgeBaseService.method;

const folder = process.env.FOLDER ?? (await mkdtemp(join(tmpdir(), "first-search-")));
// Threads keep no process alive by themselves.
const alive = setInterval(() => {}, 1_000);

if (process.env.FOLDER === undefined) {
  const rig = await startRig({ folder });
  const { knowledgeBase } = await rig.dispatch.unary(createKnowledgeBase, { name: "kb" }, as("alice"));
  await fill(rig.store, knowledgeBase!.id, COUNT);
  await rig.close();
}

const rig = await startRig({ folder });
// A service that has started: what it does by itself then is done before anybody comes.
await sleep(Number(process.env.SETTLE_MS ?? 1_000));
const search = async (query: string): Promise<number> => {
  const since = performance.now();
  const { passages } = await rig.dispatch.unary(searchKnowledge, { query }, as("alice"));
  if (passages.length === 0) throw new Error(`nothing was found for ${query}`);
  return performance.now() - since;
};

/** Others, who call all the while. */
const others: number[] = [];
let isOver = false;
const calling = (async () => {
  while (!isOver) {
    const since = performance.now();
    await rig.dispatch.unary(listKnowledgeBases, {}, as("bob"));
    others.push(performance.now() - since);
    await sleep(5);
  }
})();
await sleep(200);
const before = Math.max(...others.splice(0));
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const first = await search(process.env.QUERY ?? "isolate the host");
delay.disable();
isOver = true;
await calling;
const worst = Math.max(...others);

const times: number[] = [];
for (let i = 0; i < SEARCHES; i++)
  times.push(await search(["block the sender", "rotate keys", "what to do first"][i % 3]!));
times.sort((a, b) => a - b);
await rig.close();
clearInterval(alive);
if (process.env.FOLDER === undefined) await rm(folder, { recursive: true, force: true });
const ms = (value: number): string => `${value.toFixed(1)} ms`;
process.stdout.write(
  [
    `${COUNT} passages, first search ${ms(first)}, then ${ms(times[SEARCHES / 2]!)} at the median`,
    `the event loop's longest stall meanwhile ${ms(delay.max / 1e6)}, 99 of 100 below ${ms(delay.percentile(99) / 1e6)}`,
    `${others.length} calls of others took ${ms(worst)} at most, and ${ms(before)} before`,
    "",
  ].join("\n"),
);
