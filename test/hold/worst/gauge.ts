import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** What a call cost the program. */
export interface Cost {
  /** Time of the thread that serves everybody, in milliseconds of CPU, without what it spends on nothing meanwhile. */
  readonly loopMs: number;
  /** How long it went on by the clock, in milliseconds. */
  readonly lastsMs: number;
  /** The longest time for which that thread served nobody else, in milliseconds; 0 where below 10. */
  readonly stallMs: number;
  /** Growth of the whole process in memory, in MiB. */
  readonly memoryMiB: number;
  /** Growth of what it keeps, in KiB. */
  readonly diskKiB: number;
  /** Requests that it sent to others, platforms among them. */
  readonly sent: number;
}

/** Measures a program from outside. */
export interface Gauge {
  /** What the program spends while something is done, and until it has come to rest. */
  costOf(work: () => Promise<unknown>): Promise<Cost>;
  close(): void;
}

/** What the program does by itself in a rest, in milliseconds of CPU. */
const REST_MS = 1;
const REST_TAKES_MS = 4;
const MOST_RESTS = 500;
/** How long is looked at what the program spends on nothing. */
const IDLE_MS = 3_000;
const PAGE_BYTES = 4_096;

/**
 * @param lateTurns the file that late-turns.mjs writes.
 * @param folder what the program keeps.
 */
export async function openGauge(pid: number, lateTurns: string, folder: string): Promise<Gauge> {
  const late = openSync(lateTurns, "r");
  let read = 0;
  /** The first thread of a process is the one of its event loop. */
  const loopMs = (): number => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  const memory = (): number => Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  const writtenSince = (): Pick<Cost, "stallMs" | "sent"> => {
    const { size } = fstatSync(late);
    const bytes = Buffer.alloc(size - read);
    readSync(late, bytes, 0, bytes.length, read);
    read = size;
    const lines = bytes.toString().split("\n");
    const isSent = (line: string): boolean => line === "sent";
    return {
      stallMs: Math.max(0, ...lines.filter((line) => !isSent(line)).map(Number)),
      sent: lines.filter(isSent).length,
    };
  };
  const rested = async (): Promise<void> => {
    for (let rests = 0; rests < MOST_RESTS; rests++) {
      const before = loopMs();
      await sleep(REST_TAKES_MS);
      if (loopMs() - before < REST_MS) return;
    }
  };
  await rested();
  const quiet = { at: performance.now(), loop: loopMs() };
  await sleep(IDLE_MS);
  const idle = (loopMs() - quiet.loop) / (performance.now() - quiet.at);
  return {
    async costOf(work) {
      writtenSince();
      const before = { at: performance.now(), loop: loopMs(), memory: memory(), disk: bytesIn(folder) };
      await work();
      const lastsMs = performance.now() - before.at;
      await rested();
      return {
        lastsMs,
        loopMs: Math.max(0, loopMs() - before.loop - idle * (performance.now() - before.at)),
        memoryMiB: (memory() - before.memory) / 2 ** 20,
        diskKiB: (bytesIn(folder) - before.disk) / 2 ** 10,
        ...writtenSince(),
      };
    },
    close: () => closeSync(late),
  };
}

/** The bytes that the files of a folder take. */
function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += bytesIn(path);
    else bytes += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return bytes;
}
