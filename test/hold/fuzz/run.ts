import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "./random.js";
import type { FuzzTarget } from "./target.js";

/** How many inputs, from which seed, and how many at once. */
export interface FuzzOptions {
  readonly inputs: number;
  readonly seed: number;
  readonly atOnce: number;
  /** It ends after so many seconds, with as many inputs as there were. */
  readonly seconds?: number;
  /** What inputs may fail with before it ends. */
  readonly maxProblems?: number;
}

/** What came of the inputs. */
export interface Fuzzed {
  readonly inputs: number;
  /** Different refusals that they met. */
  readonly refusals: number;
  readonly seconds: number;
  /** Of the processor, the senders' own included. */
  readonly cpuSeconds: number;
  /** What was wrong, each kind once, with the number of the first input. */
  readonly problems: readonly string[];
  /** The longest that the event loop stood still, in milliseconds. */
  readonly stallMs: number;
  /** What the process holds of memory in bytes, once warm and at the end, after a collection where one can be asked for. */
  readonly heldBefore: number;
  readonly heldAfter: number;
}

/** Inputs before it is measured, at most. */
const WARM = 1_000;
/** How often it is looked whether the event loop stands still, in milliseconds. */
const LOOK_MS = 5;
/** At the memory, where a collection can be asked for. */
const RSS_LOOKS = globalThis.gc === undefined ? 1 : 10;

/** Sends inputs to a target, some at once; input n is the same for the same seed. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<Fuzzed> {
  const { inputs, seed, maxProblems = 20, seconds: most = Number.POSITIVE_INFINITY } = options;
  const atOnce = target.atOnce ?? options.atOnce;
  const endsAt = performance.now() + most * 1_000;
  const problems = new Map<string, string>();
  let next = 0;
  const work = async (until: number): Promise<void> => {
    while (next < until && problems.size < maxProblems && performance.now() < endsAt) {
      const n = next++;
      const problem = await target.one(new Random(seed * 1_000_003 + n));
      if (problem !== undefined) problems.set(problem.slice(0, 300), `input ${n}: ${problem}`);
      // A turn of the loop for timers and sockets: many inputs need none.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const all = (until: number) => Promise.all(Array.from({ length: atOnce }, () => work(until)));

  // What is compiled, cached and pooled at the first inputs is no leak.
  await all(Math.min(WARM, Math.ceil(inputs / 20)));
  const heldBefore = await held();
  let stallMs = 0;
  let lookedAt = performance.now();
  let burnt = loopMs();
  const looks = setInterval(() => {
    const now = performance.now();
    const cpu = loopMs();
    // Where others had the processor, it was not this loop that stood still.
    stallMs = Math.max(stallMs, Math.min(now - lookedAt - LOOK_MS, cpu - burnt));
    lookedAt = now;
    burnt = cpu;
  }, LOOK_MS);
  const cpuBefore = cpuMs();
  const startedAt = performance.now();
  await all(inputs);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuSeconds = (cpuMs() - cpuBefore) / 1_000;
  clearInterval(looks);
  return {
    inputs: next,
    refusals: target.refusals.size,
    seconds,
    cpuSeconds,
    problems: [...problems.values()],
    stallMs,
    heldBefore,
    heldAfter: await held(),
  };
}

/** What is not given back yet right after a collection, and what the heap keeps for later, is no leak: the least of some looks counts. */
async function held(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < RSS_LOOKS; n++) {
    globalThis.gc?.();
    await sleep(100);
    const { rss, heapTotal, heapUsed } = process.memoryUsage();
    least = Math.min(least, rss - mapped() - heapTotal + heapUsed);
  }
  return least;
}

/** Bytes of files that are mapped, where the system says it: those of a store are its to drop, and grow with what it keeps. */
function mapped(): number {
  try {
    return Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** Processor time of the thread of the event loop, where the system says it; otherwise of the process, whose collector has threads of its own. */
function loopMs(): number {
  try {
    return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ", 1)[0]) / 1e6;
  } catch {
    return cpuMs();
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
