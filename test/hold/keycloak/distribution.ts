import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const VERSION = "26.4.0";

/** Where downloads stay between runs, outside the tree. */
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "sallyport");

/**
 * Unpacks Keycloak; Maven downloads it the first time, by its own settings.
 *
 * @param into an empty directory.
 * @returns the directory of the distribution.
 */
export function unpackKeycloak(into: string): string {
  const zip = join(CACHE, `keycloak-quarkus-dist-${VERSION}.zip`);
  if (!existsSync(zip)) {
    mkdirSync(CACHE, { recursive: true });
    const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
    execFileSync("mvn", ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${CACHE}`], {
      // Away from any project of the tree.
      cwd: CACHE,
      stdio: ["ignore", "inherit", "inherit"],
    });
  }
  execFileSync("unzip", ["-q", zip, "-d", into]);
  return join(into, `keycloak-${VERSION}`);
}
