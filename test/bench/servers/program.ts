// The whole built program under measurement.

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { addressesOf, type Bootstrap, freePorts } from "../../support/program.js";
import { onServersCore } from "./cores.js";
import { end, type Server, tied } from "./server.js";

/** The program, and how to call it. */
export interface Program extends Server {
  readonly key: string;
  /** host:port of gRPC. */
  readonly grpcAddress: string;
}

type Env = Readonly<Record<string, string>>;

/** More calls than a closed loop makes. */
const RATES = { CALLS_PER_SECOND: "1000000", USER_CALLS_PER_SECOND: "1000000" };
/** As a deployment that traces one request in a hundred. */
const TRACED = { TRACE_SAMPLE_RATIO: "0.01" };
const READY_MS = 60_000;
/** The data directory, in that of a program. */
const DATA = "data";

/** Starts it with data of its own. */
export async function startProgram(env: Env): Promise<Program> {
  const { dir, ...services } = await startServices(env);
  return { ...services, stop: () => stopAll(dir, services) };
}

/** Starts its services in one process and its façade in another, as two commands do. */
export async function startTwoProcesses(): Promise<Program> {
  const [port] = (await freePorts(1)) as [number];
  const { dir, ...services } = await startServices({ WORKERS: "0", BASE_URL: `http://127.0.0.1:${port}` });
  const facade = await startReady(join(dir, "facade-log"), "dist/facade/main.js", {
    ...addressesOf({ ...services, dataDir: join(dir, DATA) }),
    PORT: String(port),
  }).catch(async (error: unknown) => {
    await stopAll(dir, services);
    throw error;
  });
  return {
    ...services,
    port,
    pids: [...services.pids, ...facade.pids],
    stop: () => stopAll(dir, facade, services),
  };
}

/** They and their directory are ended together, by stopAll. */
async function startServices(env: Env): Promise<Program & { readonly dir: string }> {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-bench-"));
  const data = join(dir, DATA);
  const own = { PORT: "0", GRPC_PORT: "0", DATA_DIR: data, ...env };
  const started = await startReady(join(dir, "log"), "dist/services/main.js", own).catch(async (error: unknown) => {
    await stopAll(dir);
    throw error;
  });
  const file = join(data, "bootstrap.json");
  if (!existsSync(file)) throw new Error("the program wrote no bootstrap.json");
  const { base_url, grpc_url, analyst } = JSON.parse(readFileSync(file, "utf8")) as Bootstrap;
  const port = Number(new URL(base_url).port);
  return { ...started, dir, port, key: analyst.api_key, grpcAddress: new URL(grpc_url).host };
}

/** Starts a program until it is ready. Its log goes to a file, as that of a service does. */
async function startReady(logFile: string, main: string, env: Env): Promise<Pick<Server, "pids" | "stop">> {
  const log = openSync(logFile, "a");
  const [program = "", ...args] = onServersCore([process.execPath, main]);
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(program, args, {
    env: { PATH, HOME, ...RATES, ...TRACED, ...env },
    stdio: ["ignore", log, log],
  });
  tied(child);
  closeSync(log);
  const deadline = Date.now() + READY_MS;
  while (!readFileSync(logFile, "utf8").includes("ready")) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await end(child);
      throw new Error(`${main} is not ready: ${readFileSync(logFile, "utf8").slice(-2_000)}`);
    }
    await sleep(25);
  }
  return { pids: [child.pid as number], stop: () => end(child) };
}

async function stopAll(dir: string, ...started: readonly Pick<Server, "stop">[]): Promise<void> {
  for (const one of started) await one.stop();
  rmSync(dir, { recursive: true, force: true });
}
