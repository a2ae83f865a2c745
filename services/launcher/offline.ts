import { ConfigError, readConfig } from "../shared/process/config.js";
import { options } from "./config.js";

/**
 * What is done without running the service: `restore FROM [--revoke-all-keys]`, `rotate-seal`, `reset-signing-keys`,
 * `check`, `verify-audit FILE`, `copy-store mongodb|embedded`.
 */
export const OFFLINE: ReadonlySet<string> = new Set([
  ...["restore", "rotate-seal", "reset-signing-keys", "check", "verify-audit", "copy-store"],
]);

/**
 * Does it, by the settings of the environment: one JSON value on standard
 * output and exit code 0, or one line on standard error and 1.
 */
export async function runOffline(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  try {
    process.stdout.write(`${JSON.stringify(await done(argv, env))}\n`);
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems.join("; ") : (error as Error).message;
    process.stderr.write(`${problems}\n`);
    process.exitCode = 1;
  }
}

async function done([what, from = "", flag]: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  if (what === "check") {
    const { checkOffline } = await import("./check.js");
    return checkOffline(env);
  }
  if (what === "verify-audit") {
    const { verifyAuditFile } = await import("./verify-audit.js");
    return verifyAuditFile(from);
  }
  if (what === "copy-store") {
    const { copyStore } = await import("./copy-store.js");
    const { dataDir, mongodbUri } = options;
    return copyStore(readConfig({ dataDir, mongodbUri }, [], env), from);
  }
  if (what === "rotate-seal") {
    const { rotateSeal } = await import("./rotate-seal.js");
    const { secretsKey, dataDir } = readConfig({ secretsKey: options.secretsKey, dataDir: options.dataDir }, [], env);
    return rotateSeal(secretsKey, dataDir);
  }
  if (what === "reset-signing-keys") {
    const { resetSigningKeys } = await import("./reset-signing-keys.js");
    const { dataDir, mongodbUri, auditDays, auditRecords } = options;
    return resetSigningKeys(readConfig({ dataDir, mongodbUri, auditDays, auditRecords }, [], env));
  }
  const { restore } = await import("./restore.js");
  const { dataDir, mongodbUri, keyPrefix, secretsKey, auditDays, auditRecords } = options;
  const needed = { dataDir, mongodbUri, keyPrefix, secretsKey, auditDays, auditRecords };
  return restore(readConfig(needed, [], env), from, flag === "--revoke-all-keys");
}
