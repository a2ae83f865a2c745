import { extname } from "node:path";

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

/** The module at a URL that is written with .js, as in an import. */
export function moduleAt({ href }: URL): string {
  return href.replace(/\.js$/, EXTENSION);
}

/** How a process is started: as this one was, with as much heap. */
export function startFlags(megabytes: number): string[] {
  const own = process.execArgv.filter((flag) => !/^--(inspect|max-(old|semi))/.test(flag));
  const source = IS_SOURCE && !own.includes("tsx") ? SOURCE_FLAGS : [];
  return [...own, ...source, `--max-old-space-size=${megabytes}`, "--max-semi-space-size=8"];
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
