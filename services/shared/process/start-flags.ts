import { existsSync } from "node:fs";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";

/** What modules end with here: .js once built, .ts under tsx and vitest, as this one does. */
const EXTENSION = extname(new URL(import.meta.url).pathname);
/** Whether modules are run as they were written. */
export const IS_SOURCE = EXTENSION === ".ts";
/** What runs those: Node 20 has no loader of its own. */
const SOURCE_FLAGS = ["--import", "tsx", "--conditions=house:source"];

/** What processes are given of our environment: how Node starts, looks names up and trusts; never our settings. */
const ENVIRONMENT = [
  ...["PATH", "HOME", "TZ", "LANG", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "SystemRoot"],
  ...["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF"],
  ...["RES_OPTIONS", "LOCALDOMAIN"],
];

/** The folder of the sources, and where a test run has them built: what is built starts in a fifth of the time. */
const ROOT = new URL("../../../", import.meta.url).href;
const BUILT = process.env.TESTS_BUILT && pathToFileURL(`${process.env.TESTS_BUILT}/`).href;

/** The module at a URL that is written with .js, as in an import. */
export function moduleAt({ href }: URL): string {
  const built = IS_SOURCE && BUILT ? href.replace(ROOT, BUILT) : href;
  return built !== href && existsSync(new URL(built)) ? built : href.replace(/\.js$/, EXTENSION);
}

/** Whether a module is run as it was written. */
export function isSource(module: string): boolean {
  return module.endsWith(".ts");
}

/** How a process is started that runs a module: as this one was, with as much heap. */
export function startFlags(module: string, megabytes: number): string[] {
  const own = process.execArgv.filter((flag) => !/^--(inspect|max-(old|semi))/.test(flag));
  return [...loadersFor(module, own), `--max-old-space-size=${megabytes}`, "--max-semi-space-size=8"];
}

function loadersFor(module: string, own: readonly string[]): readonly string[] {
  if (isSource(module)) return own.includes("tsx") ? own : [...own, ...SOURCE_FLAGS];
  // What is built needs none of what a test run was started with.
  return IS_SOURCE ? [] : own;
}

/** The environment of a process. */
export function startEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    ENVIRONMENT.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/**
 * Has a process end with who started it, and not before: a terminal and a supervisor tell every process to end at
 * once, while the serving one still answers what it was asked.
 */
export function outliveSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
}
