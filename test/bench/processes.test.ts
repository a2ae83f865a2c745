import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { processorsIn } from "./servers/cores.js";
import { cpuMicroseconds, familyOf, readStat } from "./servers/processes.js";

test("a process's name may hold anything", () => {
  const line = "12 (a) b (c) S 7 12 12 0 -1 4194304 1 0 0 0 300 45 0 0 20 0 1 0 100";
  expect(readStat(line)).toEqual({ parent: 7, ticks: 345 });
});

test("processors are read from a list of ranges", () => {
  expect(processorsIn("0-2,5")).toEqual([0, 1, 2, 5]);
});

describe.runIf(process.platform === "linux")("of a process that starts another", () => {
  test("both are counted", async () => {
    const busy = "const end = Date.now() + 200; while (Date.now() < end); setTimeout(() => {}, 60_000)";
    const code = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(busy)}]).on("spawn", () => console.log("up"))`;
    const parent = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "ignore"] });
    const family = (): number[] => familyOf(parent.pid as number);
    try {
      await once(parent.stdout, "data");
      await expect.poll(() => cpuMicroseconds(parent.pid as number)).toBeGreaterThan(150_000);
      expect(family()).toHaveLength(2);
    } finally {
      for (const pid of family()) process.kill(pid, "SIGKILL");
    }
  });
});
