import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parsedUrl } from "../../services/shared/parsed-url.js";
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
  let read: BootstrapAccess | undefined;
  const file = (): BootstrapAccess => {
    read ??= bootstrapAccess(dataDir);
    return read;
  };
  return {
    get url() {
      return baseOf(given.url ?? addressOf(file(), dataDir));
    },
    get apiKey() {
      return given.key ?? file().admin.api_key;
    },
    dataDir,
  };
}

/** What is read of DATA_DIR/bootstrap.json. */
interface BootstrapAccess {
  readonly base_url: string;
  readonly admin: { readonly api_key: string };
}

/** Where the service said that it is. @throws UsageError if it has not said so yet: a restored store was never started. */
function addressOf({ base_url }: BootstrapAccess, dataDir: string): string {
  if (base_url !== "") return base_url;
  throw new UsageError(`${join(dataDir, "bootstrap.json")} has no address yet: start the service once, or give --url`);
}

function baseOf(text: string): string {
  if (parsedUrl(text) === undefined)
    throw new UsageError(`--url must be a URL such as http://127.0.0.1:8080, not ${text}`);
  return text.replace(/\/+$/, "");
}

function bootstrapAccess(dataDir: string): BootstrapAccess {
  const path = join(dataDir, "bootstrap.json");
  if (!existsSync(path)) {
    throw new UsageError(`${path} does not exist: start the service once, set DATA_DIR, or give both --url and --key`);
  }
  return JSON.parse(readFileSync(path, "utf8")) as BootstrapAccess;
}
