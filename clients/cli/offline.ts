import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Failure } from "./failures.js";

/**
 * Runs the service's own program over its data directory, while it does not
 * serve: clients know of services only what those share.
 *
 * @returns what it says, as JSON. @throws Failure in its own words.
 */
export function offline(args: readonly string[], dataDir: string): unknown {
  const program = fileURLToPath(new URL("../../services/main.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env: { ...process.env, DATA_DIR: dataDir },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status !== 0) throw new Failure(stderr.trim() || `it ended with ${status}`);
  return JSON.parse(stdout);
}
