import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser } from "./browser.js";
import type { ClientState } from "./client-state.js";

/** The official client SDKs, each in the era that it speaks; the newer one in both. */
export const SDKS = ["sdk 1, 2025-11-25", "client 2, 2025-11-25", "client 2, 2026-07-28"] as const;
export type Sdk = (typeof SDKS)[number];

/** A client that is connected to an MCP server. */
export interface Connected {
  call(tool: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/**
 * Connects as an application does: it tries, is sent to sign in, comes back with
 * a code, and tries again.
 */
export async function connect(
  sdk: Sdk,
  url: string,
  state: ClientState,
  browser: Browser,
  ask: typeof fetch = fetch,
): Promise<Connected> {
  const made = () => (sdk.startsWith("sdk 1") ? oldOne(url, state, ask) : newOne(sdk, url, state, ask));
  const first = made();
  try {
    await first.connect();
    return first;
  } catch (error) {
    if (!(error instanceof Error) || error.constructor.name !== "UnauthorizedError") throw error;
  }
  const back = await browser.follow(state.sentTo as URL, state.redirectUrl);
  if (back.searchParams.get("state") !== state.stated) throw new Error("the state is another");
  const refused = back.searchParams.get("error");
  if (refused !== null) throw new Error(`${refused}: ${back.searchParams.get("error_description")}`);
  await first.finish(back.searchParams);
  const second = made();
  await second.connect();
  return second;
}

interface Made extends Connected {
  connect(): Promise<void>;
  finish(back: URLSearchParams): Promise<void>;
}

function oldOne(url: string, state: ClientState, ask: typeof fetch): Made {
  const client = new OldClient({ name: "test", version: "1" });
  const transport = new OldTransport(new URL(url), { authProvider: state as never, fetch: ask });
  return {
    connect: () => client.connect(transport),
    finish: (back) => transport.finishAuth(back.get("code") as string),
    call: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as Record<string, unknown>,
    close: () => client.close(),
  };
}

function newOne(sdk: Sdk, url: string, state: ClientState, ask: typeof fetch): Made {
  const options = sdk.endsWith("2026-07-28") ? { versionNegotiation: { mode: "auto" as const } } : {};
  const client = new NewClient({ name: "test", version: "1" }, options);
  const transport = new NewTransport(new URL(url), { authProvider: state as never, fetch: ask });
  return {
    connect: () => client.connect(transport),
    finish: (back) => transport.finishAuth(back),
    call: async (name, args = {}) => (await client.callTool({ name, arguments: args })) as Record<string, unknown>,
    close: () => client.close(),
  };
}
