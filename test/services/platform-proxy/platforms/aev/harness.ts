import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { createPlatformProxyService } from "../../../../../services/platform-proxy/service.js";
import { type AevSandbox, startSandbox } from "../../../../../services/sandbox/aev/server.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import type { Authenticator, Call, Caller } from "../../../../../services/shared/rpc/call.js";
import { keyOf, mountInProcess } from "../../../../../services/shared/rpc/in-process.js";
import type { Peers } from "../../../../../services/shared/rpc/peers.js";
import { type Issuer, startIssuer } from "./issuer.js";

export type Person = "admin" | "analyst" | "planner" | "observer" | "granted" | "nobody" | "outsider";

export interface Stack {
  readonly issuer: Issuer;
  readonly sandbox: AevSandbox;
  /** Calls a tool as a person. */
  call<I extends DescMessage, O extends DescMessage>(
    person: string,
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>>;
  /** Calls a streaming tool as a person. */
  stream<I extends DescMessage, O extends DescMessage>(
    person: string,
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    signal?: AbortSignal,
  ): AsyncIterable<MessageShape<O>>;
  /** Asks the platform itself, as a person with a token of their own. */
  ask(person: string, verb: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  close(): Promise<void>;
}

export interface StackOptions {
  /** The sandbox's clock. */
  readonly now?: () => number;
  /** Stands between the proxy and the sandbox: takes the sandbox's address, gives the one to call. */
  readonly through?: (url: string) => string;
}

/** A key issuer, the sandbox, and the platform proxy mounted in this process. */
export async function startStack({ now, through = (url) => url }: StackOptions = {}): Promise<Stack> {
  const issuer = await startIssuer();
  const sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url, ...(now && { now }) });
  const target = { registered: true, url: through(sandbox.url), publicUrl: sandbox.url, auth: "bearer" };

  const answer = async (key: string, call?: Call): Promise<object> => {
    if (key === keyOf(SettingService.method.getPlatformTarget)) return target;
    if (key === keyOf(PlatformTokenService.method.mintPlatformToken)) {
      return { token: await issuer.token(call?.caller.email ?? "", sandbox.url) };
    }
    throw new Error(`nothing answers ${key}`);
  };
  const peers: Peers = {
    call: async (method, _, call) => create(method.output, (await answer(keyOf(method), call)) as never),
    callAsService: async (method) => create(method.output, (await answer(keyOf(method))) as never),
  };
  const service = createPlatformProxyService({
    peers,
    log: silentLog,
    platforms: [await loadPlatform("aev")],
    agentName: "sallyport/test",
    onEvent: () => () => undefined,
  });
  const dispatch = mountInProcess(service.methods, { authenticator, log: silentLog });
  const credential = (person: string) => ({ credential: { authorization: `Bearer ${person}` } });

  return {
    issuer,
    sandbox,
    call: (person, method, request) => dispatch.unary(method, request, credential(person)),
    stream: (person, method, request, signal) => dispatch.stream(method, request, { ...credential(person), signal }),
    async ask(person, verb, path, body) {
      const authorization = `Bearer ${await issuer.token(emailOf(person), sandbox.url)}`;
      const reply = await fetch(`${sandbox.url}${path}`, {
        method: verb,
        headers: { authorization, accept: "application/json", "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      return { status: reply.status, body: text === "" ? undefined : JSON.parse(text) };
    },
    async close() {
      await service.close();
      await sandbox.close();
      await issuer.close();
    },
  };
}

export function emailOf(person: string): string {
  return person.includes("@") ? person : `${person}@sallyport.example`;
}

const SCOPES = new Set(["account", "aev:read", "aev:write"]);

/** Takes the word after Bearer for the person. */
const authenticator: Authenticator = {
  authenticate({ authorization = "" }) {
    const person = authorization.replace("Bearer ", "");
    const caller: Caller = {
      id: person,
      email: emailOf(person),
      name: person,
      admin: false,
      groups: [],
      scopes: SCOPES,
      keyId: `key-${person}`,
      service: false,
    };
    return { caller, assertion: person };
  },
};
