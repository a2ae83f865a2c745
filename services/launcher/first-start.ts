import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PersonSecrets } from "../auth/bootstrap.js";
import type { Store } from "../shared/store/store.js";
import { writePrivate } from "./private-files.js";

/** DATA_DIR/bootstrap.json, as scripts read it. */
export interface BootstrapFile {
  readonly base_url: string;
  readonly grpc_url: string;
  readonly admin: BootstrapAccount;
  readonly analyst: BootstrapAccount;
}

/** An account of the first start, with its secrets. */
export interface BootstrapAccount {
  readonly email: string;
  readonly password: string;
  readonly api_key: string;
}

const ADMIN = "admin@sallyport.example";
const ANALYST = "analyst@sallyport.example";

/** Where the first start writes the first accounts' secrets. */
export const bootstrapPath = (dataDir: string): string => join(dataDir, "bootstrap.json");
const keyPath = (dataDir: string) => join(dataDir, "service-key");

/**
 * Makes the first users at the first start and keeps their secrets in
 * DATA_DIR/bootstrap.json and DATA_DIR/service-key, readable by their owner only.
 *
 * @returns whether this was the first start.
 */
export async function firstStart(store: Store, dataDir: string, keyPrefix: string): Promise<boolean> {
  const { bootstrap } = await import("../auth/bootstrap.js");
  const made = await bootstrap({
    store,
    keyPrefix,
    adminEmail: ADMIN,
    analystEmail: ANALYST,
    keep({ admin, analyst, serviceKey }) {
      const file: BootstrapFile = { base_url: "", grpc_url: "", admin: accountOf(admin), analyst: accountOf(analyst) };
      writePrivate(bootstrapPath(dataDir), `${JSON.stringify(file, null, 2)}\n`);
      writePrivate(keyPath(dataDir), `${serviceKey}\n`);
    },
  });
  return made !== undefined;
}

/** The key by which our processes call each other. @throws Error in one line, where there is none. */
export function serviceKey(configured: string | undefined, dataDir: string): string {
  if (configured !== undefined) return configured;
  if (existsSync(keyPath(dataDir))) return readFileSync(keyPath(dataDir), "utf8").trim();
  throw new Error(
    `--service-key (or SERVICE_KEY) is missing: set it to the key in the file service-key of auth's data directory`,
  );
}

/** What the first start wrote; undefined where the data came without it. */
export function readBootstrap(dataDir: string): BootstrapFile | undefined {
  const path = bootstrapPath(dataDir);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as BootstrapFile) : undefined;
}

/** Says in bootstrap.json where the service answers now. */
export function writeAddresses(dataDir: string, baseUrl: string, grpcUrl: string): void {
  const file = readBootstrap(dataDir);
  if (file === undefined || (file.base_url === baseUrl && file.grpc_url === grpcUrl)) return;
  const now: BootstrapFile = { ...file, base_url: baseUrl, grpc_url: grpcUrl };
  writePrivate(bootstrapPath(dataDir), `${JSON.stringify(now, null, 2)}\n`);
}

function accountOf({ email, password, apiKey }: PersonSecrets): BootstrapAccount {
  return { email, password, api_key: apiKey };
}
