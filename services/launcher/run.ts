import { ConfigError, helpOf, readConfig } from "../shared/process/config.js";
import { createLog } from "../shared/process/log.js";
import { options, type Settings } from "./config.js";
import { readBootstrap } from "./first-start.js";
import { greeting } from "./greeting.js";
import { start } from "./start.js";

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
  try {
    const running = await start(settings, log);
    let stopping = false;
    const stop = (): void => {
      if (stopping) return;
      stopping = true;
      running.stop(GRACE_MS).then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, "the process could not be stopped in order");
          process.exit(1);
        },
      );
    };
    process.on("SIGTERM", stop).on("SIGINT", stop);
    process.stdout.write(greeting(settings.serviceName, running, readBootstrap(settings.dataDir)));
  } catch (error) {
    log.debug({ err: error }, "the start failed");
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}
