import { setTimeout as sleep } from "node:timers/promises";
import { cpuMicroseconds, megabytesOf } from "../servers/processes.js";
import type { Group, Measured, Turn, Variant } from "./group.js";
import { turnsOf } from "./turns.js";

/** How a group is measured. */
export interface Pace {
  readonly rounds: number;
  /** Milliseconds of one turn. */
  readonly ms: number;
}

/** When a server counts as warm, or is measured in any case: runtimes that compile while they run are slow at first. */
const WARM = { answers: 20_000, turns: 2, mostTurns: 20 };
/** The share of a turn that is sent before it: a runtime loses its warmth while the others have their turns. */
const WARM_SHARE = 0.3;
/** A server finishes what follows an answer before its time is read. */
const SETTLE_MS = 20;

/** Measures the variants of a group in turns, once each is warm. */
export async function measure({ suite, name, variants }: Group, { rounds, ms }: Pace): Promise<Measured> {
  const turns = new Map<Variant, Turn[]>(variants.map((variant) => [variant, []]));
  for (const variant of variants) await warm(variant, ms);
  for (let round = 0; round < rounds; round++) {
    for (const variant of turnsOf(variants, round)) {
      await variant.send(ms * WARM_SHARE);
      await sleep(SETTLE_MS);
      turns.get(variant)?.push(await turnOf(variant, ms));
    }
  }
  const rows = variants.map((variant) => {
    const { name: row, kind, bytes, pids } = variant;
    return { name: row, kind, bytes, turns: turns.get(variant) ?? [], megabytes: megabytesOf(...pids) };
  });
  return { suite, name, rows };
}

async function warm({ send }: Variant, ms: number): Promise<void> {
  let answers = 0;
  for (let turn = 0; turn < WARM.mostTurns && (turn < WARM.turns || answers < WARM.answers); turn++) {
    answers += await send(ms);
  }
}

async function turnOf({ pids, send }: Variant, ms: number): Promise<Turn> {
  const before = cpuMicroseconds(...pids);
  const began = performance.now();
  const answers = await send(ms);
  const seconds = (performance.now() - began) / 1_000;
  await sleep(SETTLE_MS);
  return { cpu: (cpuMicroseconds(...pids) - before) / answers, rate: answers / seconds };
}
