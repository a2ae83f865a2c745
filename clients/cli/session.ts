import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "./failures.js";

/** What was given of where the service is and who calls. */
export interface SignIn {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

/** Where the service is and who is signed in; looked up when it is first asked for. */
export interface Session {
  /** The base URL of the façade, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /** Where the service keeps its data, where it runs on this machine. */
  readonly dataDir: string;
}

/**
 * Signs in: by --url and --key, else as the administrator whom
 * DATA_DIR/bootstrap.json names.
 */
export function signIn(given: SignIn, env: Readonly<Record<string, string | undefined>>): Session {
  const dataDir = env.DATA_DIR || "./data";
  let known: { url: string; apiKey: string } | undefined;
  const found = (): { url: string; apiKey: string } => {
    known ??= accessOf(given, dataDir);
    return known;
  };
  return {
    get url() {
      return found().url;
    },
    get apiKey() {
      return found().apiKey;
    },
    dataDir,
  };
}

function accessOf({ url, key }: SignIn, dataDir: string): { url: string; apiKey: string } {
  const base = (text: string): string => {
    if (!URL.canParse(text)) throw new UsageError(`--url must be a URL such as http://127.0.0.1:8080, not ${text}`);
    return text.replace(/\/+$/, "");
  };
  if (url !== undefined && key !== undefined) return { url: base(url), apiKey: key };
  const path = join(dataDir, "bootstrap.json");
  if (!existsSync(path)) {
    throw new UsageError(`${path} is not there: start the service once, set DATA_DIR, or give both --url and --key`);
  }
  const file = JSON.parse(readFileSync(path, "utf8")) as { base_url: string; admin: { api_key: string } };
  return { url: base(url ?? file.base_url), apiKey: key ?? file.admin.api_key };
}
