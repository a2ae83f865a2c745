import { ConfigError, readConfig } from "../shared/process/config.js";
import { options } from "./config.js";

/** What is done to the data of a service that does not run here: `restore FROM [--revoke-all-keys]`. */
export const OFFLINE: ReadonlySet<string> = new Set(["restore"]);

/**
 * Does it, by the settings of the environment: one JSON value on standard
 * output and exit code 0, or one line on standard error and 1.
 */
export async function runOffline(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const { dataDir, mongodbUri, keyPrefix, secretsKey, auditDays, auditRecords } = options;
    const needed = { dataDir, mongodbUri, keyPrefix, secretsKey, auditDays, auditRecords };
    const settings = readConfig(needed, [], env);
    const { restore } = await import("./restore.js");
    const [, from = "", flag] = argv;
    const done = await restore(settings, from, flag === "--revoke-all-keys");
    process.stdout.write(`${JSON.stringify(done)}\n`);
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems.join("; ") : (error as Error).message;
    process.stderr.write(`${problems}\n`);
    process.exitCode = 1;
  }
}
