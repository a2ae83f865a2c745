// The whole built program under measurement.

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bootstrap } from "../../support/program.js";
import { onServersCore } from "./cores.js";
import { end, type Server, tied } from "./server.js";

/** The program, and how to call it. */
export interface Program extends Server {
  readonly key: string;
  /** host:port of gRPC. */
  readonly grpcAddress: string;
}

/** More calls than a closed loop makes. */
const RATES = { CALLS_PER_SECOND: "1000000", USER_CALLS_PER_SECOND: "1000000" };
/** As a deployment that traces one request in a hundred. */
const TRACED = { TRACE_SAMPLE_RATIO: "0.01" };
const READY_MS = 60_000;

/** Starts it with data of its own. Its log goes to a file, as that of a service does. */
export async function startProgram(env: Readonly<Record<string, string>>): Promise<Program> {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-bench-"));
  const logFile = join(dir, "log");
  const log = openSync(logFile, "a");
  const [program = "", ...args] = onServersCore([process.execPath, "dist/services/main.js"]);
  const own = { PORT: "0", GRPC_PORT: "0", DATA_DIR: join(dir, "data"), ...RATES, ...TRACED, ...env };
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(program, args, { env: { PATH, HOME, ...own }, stdio: ["ignore", log, log] });
  tied(child);
  closeSync(log);
  const stop = async (): Promise<void> => {
    await end(child);
    rmSync(dir, { recursive: true, force: true });
  };
  const deadline = Date.now() + READY_MS;
  while (!readFileSync(logFile, "utf8").includes("ready")) {
    if (child.exitCode !== null || Date.now() > deadline) {
      const said = readFileSync(logFile, "utf8").slice(-2_000);
      await stop();
      throw new Error(`the program is not ready: ${said}`);
    }
    await sleep(25);
  }
  const file = join(dir, "data/bootstrap.json");
  if (!existsSync(file)) throw new Error("the program wrote no bootstrap.json");
  const { base_url, grpc_url, analyst } = JSON.parse(readFileSync(file, "utf8")) as Bootstrap;
  const port = Number(new URL(base_url).port);
  return { pid: child.pid as number, port, key: analyst.api_key, grpcAddress: new URL(grpc_url).host, stop };
}
