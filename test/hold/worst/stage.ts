import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PLATFORMS } from "../../../services/shared/platforms.js";
import { freePorts, type Program, startProgram } from "../../support/program.js";
import { type Gauge, openGauge } from "./gauge.js";

/** The program under measurement, with its platforms in processes of their own: what they spend is theirs. */
export interface Stage {
  readonly program: Program;
  readonly gauge: Gauge;
  /** Ends the program, and leaves its data. */
  end(): Promise<void>;
  close(): Promise<void>;
}

const HOOK = fileURLToPath(new URL("late-turns.mjs", import.meta.url));
const SANDBOX = fileURLToPath(new URL("../../../dist/services/sandbox/main.js", import.meta.url));
/** More than is asked of it: how many calls a key has is not what is measured. */
const NO_RATE = "1000000000";

/** Starts the built program. */
export async function openStage(): Promise<Stage> {
  const [port = 0] = await freePorts(1);
  const trust = `http://127.0.0.1:${port}`;
  const named = PLATFORMS.filter(({ sandbox }) => sandbox !== undefined).map(({ name }) => name);
  const sandboxes = await Promise.all(named.map((name) => startSandbox(name, trust)));
  const folder = mkdtempSync(join(tmpdir(), "sallyport-worst-"));
  const late = join(folder, "late-turns");
  writeFileSync(late, "");
  const dataDir = join(folder, "data");
  const program = await startProgram({
    dataDir,
    env: {
      PORT: String(port),
      ...Object.fromEntries(named.map((name, n) => [`${name.toUpperCase()}_URL`, sandboxes[n]!.url])),
      ...Object.fromEntries(
        ["CALLS_PER_SECOND", "CALL_BURST", "USER_CALLS_PER_SECOND", "USER_CALL_BURST"].map((name) => [name, NO_RATE]),
      ),
      LOG_LEVEL: "error",
      NODE_OPTIONS: `--import=${HOOK}`,
      LATE_TURNS: late,
    },
  });
  const gauge = await openGauge(program.process.pid!, late, dataDir);
  return {
    program,
    gauge,
    end: () => program.stop(),
    async close() {
      gauge.close();
      await program.stop();
      for (const { process } of sandboxes) process.kill("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startSandbox(
  name: string,
  trust: string,
): Promise<{ readonly process: ChildProcess; readonly url: string }> {
  const args = [SANDBOX, "--platform", name, "--trust", trust, "--port", "0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  for (;;) {
    const [chunk] = (await once(child.stdout, "data")) as [Buffer];
    said += chunk;
    const url = /ready at (\S+)/.exec(said)?.[1];
    if (url !== undefined) return { process: child, url };
  }
}
