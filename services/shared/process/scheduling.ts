import { execFile } from "node:child_process";

/**
 * Has the kernel take this process' main thread for one that computes (SCHED_BATCH, sched(7)): when a call comes, the thread
 * does not interrupt another process on the same processor, and finds more calls when its turn comes. Its share of the processor
 * stays the same, and a processor that is free is used at once. Without Linux, or without `chrt` of util-linux or BusyBox,
 * nothing changes.
 */
export function letOthersFinish(): void {
  if (process.platform !== "linux") return;
  execFile("chrt", ["-b", "-p", "0", String(process.pid)], () => undefined);
}
