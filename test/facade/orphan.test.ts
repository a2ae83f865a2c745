import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { options } from "../../services/launcher/config.js";
import { workerEnv } from "../../services/launcher/facade.js";
import { readConfig } from "../../services/shared/process/config.js";
import { bundled } from "../support/bundled.js";
import { freePorts } from "../support/program.js";

test("a worker ends in order if who started it ended before the worker was ready", { timeout: 60_000 }, async () => {
  const [port = 0] = await freePorts(1);
  const place = { port, baseUrl: `http://127.0.0.1:${port}`, grpcUrl: "http://127.0.0.1:1", key: "slp_x" };
  const worker = fork(await bundled(new URL("../../facade/main.ts", import.meta.url)), [], {
    env: { PATH: process.env.PATH, ...workerEnv(readConfig(options, [], {}), place) },
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let said = "";
  worker.stderr?.on("data", (piece) => {
    said += piece;
  });
  worker.disconnect();
  expect(await once(worker, "exit")).toEqual([0, null]);
  expect(said).toBe("");
});
