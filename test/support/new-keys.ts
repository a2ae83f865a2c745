import { Agent } from "undici";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import type { Program } from "./program.js";

/** What an endpoint answered. */
export interface Said {
  readonly status: number;
  readonly text: string;
}

/** Asks the core endpoint. */
export interface Asker {
  ask(key: string, method: string, params?: object): Promise<Said>;
  close(): Promise<void>;
}

/** Keys of one user; a user may have 200. */
const KEYS_PER_USER = 100;
/** Keys that are made at the same time: each is a bcrypt. */
const MADE_AT_ONCE = 20;
/** How long a client waits for an answer. */
const PATIENCE_MS = 60_000;

/** Makes keys that nobody has used yet, of a user, as an administrator makes them. */
export async function makeKeysOf({ bootstrap }: Program, userEmail: string, count: number): Promise<readonly string[]> {
  const keys = connectClient(ApiKeyService, { baseUrl: bootstrap.grpc_url, apiKey: bootstrap.admin.api_key });
  const tokens: string[] = [];
  for (let made = 0; made < count; made += MADE_AT_ONCE) {
    const names = Array.from({ length: Math.min(MADE_AT_ONCE, count - made) }, (_, i) => `new ${made + i}`);
    const answers = await Promise.all(names.map((name) => keys.createApiKey({ userEmail, name })));
    tokens.push(...answers.map(({ token }) => token));
  }
  return tokens;
}

/** As many new keys as wanted, of as many new users as it takes. */
export async function makeKeys(program: Program, count: number): Promise<readonly string[]> {
  const { grpc_url: baseUrl, admin } = program.bootstrap;
  const users = connectClient(UserService, { baseUrl, apiKey: admin.api_key });
  const tokens: string[] = [];
  for (let n = 0; n < count; n += KEYS_PER_USER) {
    const email = `new-keys-${n}@example.org`;
    await users.createUser({ email, name: `New keys ${n}` });
    tokens.push(...(await makeKeysOf(program, email, Math.min(KEYS_PER_USER, count - n))));
  }
  return tokens;
}

/** Asks from one address, each request on a connection that no other has at that moment. */
export function createAsker({ baseUrl }: Program): Asker {
  const agent = new Agent({ pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  return {
    async ask(key, method, params = {}) {
      const { statusCode, body } = await agent.request({
        origin: baseUrl,
        path: "/mcp/core",
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return { status: statusCode, text: await body.text() };
    },
    close: () => agent.close(),
  };
}

/** Every key asks for the tools at once; what was said otherwise than 200, and after how many milliseconds all was. */
export async function listToolsAtOnce(
  asker: Asker,
  keys: readonly string[],
): Promise<{ readonly refused: readonly string[]; readonly ms: number }> {
  const began = performance.now();
  const said = await Promise.all(keys.map((key) => asker.ask(key, "tools/list")));
  const ms = performance.now() - began;
  const refused = said.filter(({ status, text }) => status !== 200 || !text.includes('"tools"'));
  return { refused: refused.map(({ status, text }) => `${status} ${text.slice(0, 200)}`), ms };
}
