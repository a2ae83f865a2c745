import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, readConfig } from "../shared/process/config.js";
import { options } from "./config.js";
import { RESTORING } from "./data-dir.js";

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "wrong";
  readonly found: string;
  /** What to do about it; absent where all is well. */
  readonly do?: string;
}

/** Below it the disk is nearly full, and below the other it is as good as full, in bytes. */
const DISK_LOW = 2 ** 30;
const DISK_FULL = 100 * 2 ** 20;
const OTHERS = 0o077;

/** Looks at what can be seen without the service: its settings, its data directory, and the disk. */
export function checkOffline(env: Readonly<Record<string, string | undefined>>): Finding[] {
  const findings: Finding[] = [];
  let dataDir = env.DATA_DIR || "./data";
  let mongodb = false;
  let sealed = false;
  try {
    const settings = readConfig(options, [], env);
    dataDir = settings.dataDir;
    mongodb = settings.mongodbUri !== undefined;
    sealed = settings.secretsKey !== undefined;
    findings.push({ check: "settings", state: "ok", found: "the settings in this shell are valid" });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = "correct the setting with which the service starts; docs/configuration.md lists all settings";
    findings.push(...error.problems.map((found): Finding => ({ check: "settings", state: "wrong", found, do: fix })));
  }
  return [...findings, ...dataFindings(dataDir, { mongodb, sealed })];
}

function dataFindings(dataDir: string, has: { readonly mongodb: boolean; readonly sealed: boolean }): Finding[] {
  if (!existsSync(dataDir)) {
    const found = `the data directory ${dataDir} does not exist`;
    return [
      {
        check: "data",
        state: "wrong",
        found,
        do: "set DATA_DIR to the service's data directory, or start the service once",
      },
    ];
  }
  return [
    disk(dataDir),
    files(dataDir),
    store(dataDir, has.mongodb),
    seal(dataDir, has.sealed),
    restoring(dataDir),
  ].filter((one) => one !== undefined);
}

function disk(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir);
  const free = bavail * bsize;
  const found = `${Math.floor(free / 2 ** 20)} MiB free`;
  if (free >= DISK_LOW) return { check: "disk", state: "ok", found };
  const fix = "free space on the disk of the data directory; if it is full, the service refuses writes";
  return { check: "disk", state: free < DISK_FULL ? "wrong" : "warn", found, do: fix };
}

/** What others can read of the directory, by mode. Windows has none. */
function files(dataDir: string): Finding {
  const names = [
    ".",
    ...readdirSync(dataDir).filter((name) => /^(bootstrap\.json|service-key|secrets-key)$/.test(name)),
  ];
  const open = process.platform === "win32" ? [] : names.filter((name) => isOpen(join(dataDir, name)));
  if (open.length === 0) return { check: "files", state: "ok", found: "only the owner can read the data directory" };
  const fix = "chmod 700 the directory and 600 the files; the next start does so too";
  return { check: "files", state: "wrong", found: `others can read ${open.join(", ")} in ${dataDir}`, do: fix };
}

const isOpen = (path: string): boolean => (statSync(path).mode & OTHERS) !== 0;

function store(dataDir: string, mongodb: boolean): Finding {
  if (mongodb) return { check: "store", state: "ok", found: "MongoDB" };
  const sizes = ["main", "traces"].flatMap((name) => {
    const file = join(dataDir, name, "data.mdb");
    return existsSync(file) ? [`${name} ${Math.ceil(statSync(file).size / 2 ** 20)} MiB`] : [];
  });
  if (sizes.length > 0) return { check: "store", state: "ok", found: sizes.join(", ") };
  const found = `${dataDir} has no embedded store`;
  return {
    check: "store",
    state: "wrong",
    found,
    do: "set DATA_DIR to the service's data directory, or start the service once",
  };
}

function seal(dataDir: string, configured: boolean): Finding {
  if (configured) return { check: "sealing key", state: "ok", found: "SECRETS_KEY" };
  const path = join(dataDir, "secrets-key");
  if (existsSync(path))
    return { check: "sealing key", state: "ok", found: `${path}; keep a copy of it, but not with the backups` };
  const fix =
    "restore this installation's key, or set SECRETS_KEY; without it, nothing can decrypt the store's signing keys";
  return { check: "sealing key", state: "wrong", found: `${path} is missing`, do: fix };
}

function restoring(dataDir: string): Finding | undefined {
  const path = join(dataDir, RESTORING);
  if (!existsSync(path)) return undefined;
  const fix = `run backup restore again, or remove ${path} to continue without the restore`;
  return { check: "restore", state: "wrong", found: "a restore was interrupted", do: fix };
}
