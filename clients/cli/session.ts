import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { connectClient } from "../node/connect.js";
import { UsageError } from "./usage-error.js";

/** Where the service is and who is signed in. */
export interface Session {
  /** The base URL of the façade, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  client<S extends DescService>(service: S): Client<S>;
}

/**
 * Signs in: by --url and --key, else as the administrator whom
 * DATA_DIR/bootstrap.json names.
 */
export function signIn(
  flags: { readonly url?: string | undefined; readonly key?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Session {
  const { url, apiKey } =
    flags.url !== undefined && flags.key !== undefined
      ? { url: flags.url, apiKey: flags.key }
      : bootstrapped(flags, env);
  const base = url.replace(/\/+$/, "");
  return {
    url: base,
    apiKey,
    client: (service) => connectClient(service, { baseUrl: `${base}/rpc`, apiKey, httpVersion: "1.1" }),
  };
}

function bootstrapped(
  { url, key }: { readonly url?: string | undefined; readonly key?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): { url: string; apiKey: string } {
  const path = join(env.DATA_DIR || "./data", "bootstrap.json");
  if (!existsSync(path)) {
    throw new UsageError(`${path} is not there: start the service once, set DATA_DIR, or give both --url and --key`);
  }
  const file = JSON.parse(readFileSync(path, "utf8")) as { base_url: string; admin: { api_key: string } };
  return { url: url ?? file.base_url, apiKey: key ?? file.admin.api_key };
}
