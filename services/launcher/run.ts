import { ConfigError, helpOf, readConfig } from "../shared/process/config.js";
import { createLog, type Log } from "../shared/process/log.js";
import { allocateAsNew } from "../shared/process/new-objects.js";
import { options, type Settings } from "./config.js";
import { greeting } from "./greeting.js";
import { type Running, start } from "./start.js";

const GRACE_MS = 10_000;

/**
 * Runs the process: settings, start, signals; with --help it only shows the
 * settings. A start that fails says why in one line and exits 1; SIGTERM and
 * SIGINT drain and exit 0.
 */
export async function run(): Promise<void> {
  if (process.argv.includes("--help")) {
    process.stdout.write(helpOf(options));
    return;
  }
  let settings: Settings;
  try {
    settings = readConfig(options, process.argv.slice(2), process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  const log = createLog(settings.logLevel);
  const starting = start(settings, log);
  // From now on: what is being started when a signal comes is ended once it has, not cut off within.
  const isEnding = endOnSignals(starting, log);
  try {
    const running = await starting;
    allocateAsNew();
    if (!isEnding()) process.stdout.write(greeting(settings, running));
  } catch (error) {
    log.debug({ err: error }, "the start failed");
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}

/** Gives whether a signal has come. */
function endOnSignals(starting: Promise<Running>, log: Log): () => boolean {
  let isEnding = false;
  const end = async (): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    const running = await starting;
    try {
      await running.stop(GRACE_MS);
      process.exit(0);
    } catch (error) {
      log.error({ err: error }, "the process did not stop cleanly");
      process.exit(1);
    }
  };
  // A start that fails says so itself.
  const heard = (): void => void end().catch(() => undefined);
  process.on("SIGTERM", heard).on("SIGINT", heard);
  return () => isEnding;
}
