import { setTimeout as sleep } from "node:timers/promises";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../../clients/node/connect.js";
import { post } from "../../support/mcp.js";
import { startProgram } from "../../support/program.js";

/** What a tool said to a person. */
export interface Said {
  /** Its result; undefined where it refused. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  /** The whole answer as it came. */
  readonly text: string;
  /** The refusal in words; "" for a result. */
  readonly refusal: string;
}

/** Somebody with a key of the product. */
export interface Person {
  readonly name: string;
  readonly email: string;
  readonly key: string;
  /** The names that tools/list shows. */
  tools(): Promise<readonly string[]>;
  /** Calls a tool over MCP. */
  ask(tool: string, args?: object): Promise<Said>;
  /** Calls a tool over MCP; its result. @throws Error with the refusal. */
  get<T = Record<string, unknown>>(tool: string, args?: object): Promise<T>;
}

/** The product, in front of a real platform. */
export interface Product {
  readonly baseUrl: string;
  readonly people: Readonly<Record<string, Person>>;
  /** Makes one more person, with an account at the product alone. */
  person(name: string, email: string): Promise<Person>;
  stop(): Promise<void>;
}

/**
 * Starts the product from its sources in front of a real platform, on data of
 * its own, with a user and a key for each person.
 *
 * @param server whose tools are called.
 * @param env names the platform, such as GRC_URL.
 * @param emails of the people, by name.
 * @param isBuilt starts it as it was built, which is faster, where that is there.
 */
export async function startProduct(
  server: string,
  env: Readonly<Record<string, string>>,
  emails: Readonly<Record<string, string>>,
  isBuilt = false,
): Promise<Product> {
  const sources = { main: "../services/main.ts", env: { NODE_OPTIONS: "--import=tsx --conditions=house:source" } };
  const from = isBuilt ? { env: {} } : sources;
  const start = () => startProgram({ ...from, env: { SANDBOX: "off", ...from.env, ...env } });
  // From its sources it takes long where the platform beside it is busy.
  const program = await start().catch(start).catch(start);
  const { baseUrl, bootstrap } = program;
  const options = { baseUrl: bootstrap.grpc_url, apiKey: bootstrap.admin.api_key };
  const [users, keys] = [connectClient(UserService, options), connectClient(ApiKeyService, options)];

  async function person(name: string, email: string): Promise<Person> {
    await users.createUser({ email, name });
    const { token } = await keys.createApiKey({ userEmail: email, name: "truth" });
    return personOf(`${baseUrl}/mcp/${server}`, name, email, token);
  }
  const people: Record<string, Person> = {};
  try {
    for (const [name, email] of Object.entries(emails)) people[name] = await person(name, email);
  } catch (error) {
    // Nobody else knows of it.
    await program.stop();
    throw error;
  }
  return { baseUrl, people, person, stop: () => program.stop() };
}

/** What the product says where it is kept from running for seconds, as by the platform beside it. */
const BUSY = /the service that checks API keys did not answer/;

/** Somebody with a key, who calls the tools of one server. */
export function personOf(url: string, name: string, email: string, key: string): Person {
  async function send(method: string, params: object): ReturnType<typeof post> {
    for (;;) {
      const answer = await post(url, key, method, params);
      if (answer.status !== 429) return answer;
      await sleep(1_000 * Number(answer.headers.get("retry-after") ?? 1));
    }
  }
  async function ask(tool: string, args: object = {}, tries = 10): Promise<Said> {
    const { body, text } = await send("tools/call", { name: tool, arguments: args });
    if (tries > 0 && BUSY.test(text)) {
      await sleep(1_000);
      return ask(tool, args, tries - 1);
    }
    const { result } = body;
    if (result !== undefined && result.isError !== true) {
      return { result: result.structuredContent, text, refusal: "" };
    }
    const words = (result?.content as { text?: string }[] | undefined)?.map((part) => part.text).join(" ");
    return { result: undefined, text, refusal: words ?? body.error?.message ?? text };
  }
  return {
    name,
    email,
    key,
    ask,
    async tools() {
      const { body, text } = await send("tools/list", {});
      if (body.result === undefined) throw new Error(`tools/list: ${text}`);
      return (body.result.tools as { name: string }[]).map((tool) => tool.name);
    },
    async get<T>(tool: string, args?: object) {
      const { result, refusal } = await ask(tool, args);
      if (result === undefined) throw new Error(`${tool} as ${name}: ${refusal}`);
      return result as T;
    },
  };
}
