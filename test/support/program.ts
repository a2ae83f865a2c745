import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reservePort } from "../../services/launcher/ports.js";
import { toolNames } from "./mcp.js";
import { LOOPBACK } from "./outgoing.js";

const ROOT = join(import.meta.dirname, "../..");
/** Servers of tests are on loopback, which is closed unless it is listed. */
export const OWN_SERVERS = { OUTGOING_ALLOW: LOOPBACK.allow.join(",") };

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
  /** Ends it and forgets its data, where they are its own. */
  stop(): Promise<void>;
  /** Removes its data. */
  forget(): void;
}

export interface Options {
  /** Relative to dist/; the whole service by default. */
  readonly main?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Keeps the data of an earlier start. */
  readonly dataDir?: string;
  /** The Node that runs it; the one of the tests by default. */
  readonly node?: string | undefined;
  /** Leaves its own data there when it stops. */
  readonly keepData?: boolean;
  /** How long it may take to be ready, in milliseconds: longer where real clients load the machine too. */
  readonly readyWithin?: number;
}

/** Starts the built program under plain Node, on free ports and data of its own, until it is ready. */
export async function startProgram({
  main = "services/main.js",
  env = {},
  args = [],
  dataDir,
  keepData = false,
  node,
  readyWithin,
}: Options = {}): Promise<Program> {
  const dir = dataDir ?? mkdtempSync(join(tmpdir(), "sallyport-"));
  const child = spawnProgram(main, args, { PORT: "0", GRPC_PORT: "0", DATA_DIR: dir, ...OWN_SERVERS, ...env }, node);
  const forget = (): void => rmSync(dir, { recursive: true, force: true });
  const stop = async (): Promise<void> => {
    await child.stop();
    if (dataDir === undefined && !keepData) forget();
  };
  try {
    await untilReady(child, readyWithin);
    const file = join(dir, "bootstrap.json");
    const bootstrap = JSON.parse(readFileSync(file, "utf8")) as Bootstrap;
    return {
      process: child.process,
      dataDir: dir,
      bootstrap,
      baseUrl: bootstrap.base_url,
      grpcAddress: new URL(bootstrap.grpc_url).host,
      output: child.output,
      stop,
      forget,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A built program that was started, ready or not. */
export interface Child {
  readonly process: ChildProcess;
  /** What it wrote to standard output and error so far. */
  readonly output: () => string;
  /** Ends it, if it has not ended already. */
  stop(): Promise<void>;
}

/** Starts a built program and collects what it says. */
export function spawnProgram(
  main: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  node = process.execPath,
): Child {
  const child = spawn(node, [join(ROOT, "dist", main), ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const hear = (chunk: Buffer): void => {
    said += chunk;
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  return {
    process: child,
    output: () => said,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Waits until a program says that it is ready. */
export async function untilReady({ process: child, output }: Child, within = 55_000): Promise<void> {
  const deadline = Date.now() + within;
  while (!/\bready\b/.test(output())) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}:\n${output()}`);
    if (Date.now() > deadline) throw new Error(`the program was not ready in ${within / 1_000} seconds:\n${output()}`);
    await sleep(25);
  }
}

/**
 * Waits until the built-in platforms answer, which start beside a program that is ready: until they say what its analyst
 * can do, lists have only tools that read.
 */
export async function untilPlatformsAnswer({ baseUrl, bootstrap }: Program, within = 55_000): Promise<void> {
  const deadline = Date.now() + within;
  for (const server of ["cti", "aev", "grc"]) {
    const names = () => toolNames(`${baseUrl}/mcp/${server}`, bootstrap.analyst.api_key);
    while (!(await names()).some((name) => /^(add|create)_/.test(name))) {
      if (Date.now() > deadline) throw new Error(`the ${server} platform did not answer in ${within / 1_000} seconds`);
      await sleep(250);
    }
  }
}

/** What a façade alone is told of services that run together. */
export function addressesOf({
  grpcAddress,
  dataDir,
}: Pick<Program, "grpcAddress" | "dataDir">): Record<string, string> {
  const names = ["AUTH_URL", "CATALOGUE_URL", "PLATFORM_PROXY_URL", "CORE_OBJECTS_URL", "TRACES_URL"];
  return {
    ...Object.fromEntries(names.map((name) => [name, `http://${grpcAddress}`])),
    SERVICE_KEY_FILE: join(dataDir, "service-key"),
  };
}

/** Free ports, for programs that must know each other's addresses before they start. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await reservePort("127.0.0.1", 0, "port"));
  return [...ports];
}

/** A port of the test's own that leads to one that is not known yet. */
export interface Relay {
  readonly url: string;
  /** Where new connections go from now on; until then they are closed. */
  leadTo(url: string): void;
  close(): Promise<void>;
}

/** Opens one. Unlike a port that was free a moment ago, nobody else can take it. */
export async function openRelay(): Promise<Relay> {
  let to: number | undefined;
  const server = createServer((from) => {
    from.on("error", () => {});
    if (to === undefined) return void from.destroy();
    const onward = connect(to, "127.0.0.1");
    onward.on("error", () => from.destroy()).on("close", () => from.destroy());
    from.on("close", () => onward.destroy());
    from.pipe(onward).pipe(from);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url) => {
      to = Number(new URL(url).port);
    },
    close: () => new Promise((done) => server.close(() => done())),
  };
}
