import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOT = join(import.meta.dirname, "../..");

export interface Account {
  readonly email: string;
  readonly password: string;
  readonly api_key: string;
}

export interface Bootstrap {
  readonly base_url: string;
  readonly grpc_url: string;
  readonly admin: Account;
  readonly analyst: Account;
}

export interface Program {
  readonly process: ChildProcess;
  readonly dataDir: string;
  readonly bootstrap: Bootstrap;
  readonly baseUrl: string;
  /** host:port of gRPC. */
  readonly grpcAddress: string;
  /** What it wrote to standard output and error so far. */
  readonly output: () => string;
  /** Ends it and forgets its data. */
  stop(): Promise<void>;
}

export interface Options {
  /** Relative to dist/; the whole service by default. */
  readonly main?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Keeps the data of an earlier start. */
  readonly dataDir?: string;
}

/** Starts the built program under plain Node, on free ports and data of its own, until it is ready. */
export async function startProgram({
  main = "services/main.js",
  env = {},
  args = [],
  dataDir,
}: Options = {}): Promise<Program> {
  const dir = dataDir ?? mkdtempSync(join(tmpdir(), "sallyport-"));
  const child = spawnProgram(main, args, { PORT: "0", GRPC_PORT: "0", DATA_DIR: dir, ...env });
  const stop = async (): Promise<void> => {
    if (child.process.exitCode === null && child.process.signalCode === null) {
      child.process.kill("SIGTERM");
      await Promise.race([once(child.process, "exit"), sleep(15_000).then(() => child.process.kill("SIGKILL"))]);
    }
    if (dataDir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  try {
    const bootstrap = await until(child, () => {
      const file = join(dir, "bootstrap.json");
      return child.output().includes("ready") && existsSync(file)
        ? (JSON.parse(readFileSync(file, "utf8")) as Bootstrap)
        : undefined;
    });
    return {
      process: child.process,
      dataDir: dir,
      bootstrap,
      baseUrl: bootstrap.base_url,
      grpcAddress: new URL(bootstrap.grpc_url).host,
      output: child.output,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a built program and collects what it says. */
export function spawnProgram(main: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const process_ = spawn(process.execPath, [join(ROOT, "dist", main), ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  process_.stdout.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  process_.stderr.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  return { process: process_, output: () => said };
}

async function until<T>(child: ReturnType<typeof spawnProgram>, look: () => T | undefined): Promise<T> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    const found = look();
    if (found !== undefined) return found;
    if (child.process.exitCode !== null)
      throw new Error(`the program ended with ${child.process.exitCode}:\n${child.output()}`);
    await sleep(25);
  }
  throw new Error(`the program was not ready in 30 seconds:\n${child.output()}`);
}
