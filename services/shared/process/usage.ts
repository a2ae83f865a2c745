import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a process has taken. */
export interface Usage {
  /** Of processor time, in milliseconds. */
  readonly ms: number;
  /** Of memory, now. */
  readonly bytes: number;
}

/** What processes have taken, by their ids; nothing of those that ended, and of none on Windows. */
export async function usageOf(ids: readonly number[]): Promise<ReadonlyMap<number, Usage>> {
  if (process.platform === "win32" || ids.length === 0) return new Map();
  if (process.platform !== "linux") return usageByPs(ids);
  return new Map(ids.flatMap((id) => usageOnLinux(id) ?? []));
}

/** As Linux counts it (proc(5): utime and stime of stat, in hundredths of a second; VmRSS of status, in KiB). */
function usageOnLinux(id: number): [[number, Usage]] | undefined {
  try {
    const fields = readFileSync(`/proc/${id}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
    const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "latin1")) ?? [];
    return [[id, { ms: (Number(fields[11]) + Number(fields[12])) * 10, bytes: Number(kib ?? 0) * 1_024 }]];
  } catch {
    return undefined;
  }
}

/** As POSIX's ps says it: [[days-]hours:]minutes:seconds, and KiB. */
export async function usageByPs(ids: readonly number[]): Promise<ReadonlyMap<number, Usage>> {
  const asked = ["-o", "pid=,time=,rss=", "-p", ids.join(",")];
  const { stdout } = await run("ps", asked).catch(() => ({ stdout: "" }));
  const lines = stdout.split("\n").flatMap((line) => {
    const [id, time = "", kib] = line.trim().split(/\s+/);
    if (kib === undefined) return [];
    const [clock = "", days = "0"] = time.split("-").reverse();
    const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
    return [[Number(id), { ms: seconds * 1_000, bytes: Number(kib) * 1_024 }] as const];
  });
  return new Map(lines);
}
