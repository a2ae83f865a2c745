// npm run test:restarts [-- COUNT [program]]: the embedded store is opened, written
// to and killed or ended early, again and again, with the next one often begun before
// the one before is gone; or the whole program is. None may crash, none may find a
// damaged store, and what was acknowledged is there.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const COUNT = Number(process.argv[2] ?? 10_000);
const ROOT = join(import.meta.dirname, "../..");
const PROGRAM = join(ROOT, "dist/services/main.js");
/** In one file, which starts in half the time. */
const CHILD = join(ROOT, "dist/restarted-store.mjs");
/** From when a start says that it opens the store: some are ended within that, some while they write. */
const MOST_MS = process.argv[3] === "program" ? 2_500 : 60;
/** Starts in one directory. */
const A_DIRECTORY = 20;

// Comes with tsx.
execFileSync(join(ROOT, "node_modules/.bin/esbuild"), [
  join(import.meta.dirname, "restarted-store.mjs"),
  ...["--bundle", "--platform=node", "--format=esm", "--packages=bundle", "--external:lmdb", "--external:pino"],
  ...["--log-level=warning", `--outfile=${CHILD}`],
]);

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
}

interface Begun {
  readonly child: ChildProcess;
  readonly opening: Promise<void>;
  readonly ended: Promise<Ended>;
}

function begin(dir: string, how: string): Begun {
  const child =
    process.argv[3] === "program"
      ? spawn(process.execPath, [PROGRAM], { env: { ...process.env, PORT: "0", GRPC_PORT: "0", DATA_DIR: dir } })
      : spawn(process.execPath, [CHILD, dir, how]);
  let said = "";
  let opens = (): void => undefined;
  const opening = new Promise<void>((resolve) => {
    opens = resolve;
  });
  const hear = (chunk: Buffer): void => {
    said += chunk;
    opens();
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code, signal) => {
      opens();
      resolve({ code, signal, said });
    });
  });
  return { child, opening, ended };
}

const told = new Map<string, number>();
const failures: string[] = [];
let acknowledged = 0;

function judge({ code, signal, said }: Ended): void {
  const wrote = [...said.matchAll(/^wrote (\d+)$/gm)].at(-1)?.[1];
  if (wrote !== undefined) acknowledged = Math.max(acknowledged, Number(wrote) + 1);
  const isHeld = code === 1 && said.includes("in use by another process");
  const what = isHeld ? "was held off" : (signal ?? `exit ${code}`);
  told.set(what, (told.get(what) ?? 0) + 1);
  if (!["SIGTERM", "SIGKILL", "exit 0", "was held off"].includes(what)) failures.push(`${what}: ${said.slice(-500)}`);
}

async function oneDirectory(starts: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-restarts-"));
  acknowledged = 0;
  let before: Promise<void> = Promise.resolve();
  for (let i = 0; i < starts - 1; i++) {
    const { child, opening, ended } = begin(dir, Math.random() < 0.5 ? "dies" : "closes");
    if (process.argv[3] !== "program") await opening;
    await sleep(Math.random() * MOST_MS);
    child.kill(Math.random() < 0.7 ? "SIGTERM" : "SIGKILL");
    await before;
    before = ended.then(judge);
    if (Math.random() < 0.5) await before;
  }
  await before;
  const { child, ended } = begin(dir, "counts");
  child.stdout?.on("data", (said) => String(said).includes("is ready") && child.kill("SIGTERM"));
  const last = await ended;
  judge(last);
  const there = Number(/^open (\d+)$/m.exec(last.said)?.[1] ?? 0);
  if (there < acknowledged || last.code !== 0)
    failures.push(`${acknowledged} were acknowledged and ${there} are there: ${last.said}`);
  rmSync(dir, { recursive: true, force: true });
}

for (let done = 0; done < COUNT; done += A_DIRECTORY) await oneDirectory(Math.min(A_DIRECTORY, COUNT - done));
const line = [...told].map(([what, count]) => `${what} × ${count}`).join(", ");
const report = [`${COUNT} starts: ${line}; ${failures.length} failures`, ...failures.slice(0, 5)];
process.stdout.write(`${report.join("\n")}\n`);
process.exit(failures.length === 0 ? 0 : 1);
