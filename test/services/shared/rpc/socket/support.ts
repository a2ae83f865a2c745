import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type Settings,
} from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { ServerReflection } from "#proto/grpc/reflection/v1/reflection_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import type { Authenticator, Call, Caller } from "../../../../../services/shared/rpc/call.js";
import { type Options, type RpcServer, serveConnect } from "../../../../../services/shared/rpc/connect.js";
import { unauthenticated } from "../../../../../services/shared/rpc/errors.js";
import { health } from "../../../../../services/shared/rpc/health.js";
import { duplex, serverStream, unary, withScope } from "../../../../../services/shared/rpc/method.js";

export const ANA: Caller = {
  id: "u1",
  email: "ana@example.org",
  name: "Ana",
  admin: false,
  groups: [],
  scopes: new Set(["account", "core:read", "traces:write", "aev:write"]),
  keyId: "k1",
  service: false,
};

/** Longer than a stream holds before its client takes something. */
const LONG = "x".repeat(1 << 20);

/** What the methods and the authenticator of a rig saw. */
export interface Seen {
  begun: string[];
  /** Streams whose method has come to its end, or was left. */
  ended: string[];
  authenticated: number;
  calls: Call[];
}

/** A server with a method of every kind, which `Bearer ana` may call. */
export async function startRig(options: Partial<Options> & { readonly authenticator?: Authenticator } = {}) {
  const seen: Seen = { begun: [], ended: [], authenticated: 0, calls: [] };
  const authenticator: Authenticator = options.authenticator ?? {
    authenticate({ authorization, assertion }) {
      seen.authenticated++;
      if (authorization === "Bearer ana" || assertion === "ana") return { caller: ANA, assertion: "ana" };
      throw unauthenticated("this credential is not known");
    },
  };
  const note = (name: string, call: Call): void => {
    seen.begun.push(name);
    seen.calls.push(call);
  };
  const forever = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  const steps = { authenticator, log: silentLog };
  const methods = [
    unary(AgentService.method.getAgent, async ({ agentId }, call) => {
      note("getAgent", call);
      if (agentId === "waits") await forever(call.signal);
      return { agent: { id: agentId, description: agentId === "long" ? LONG : "" } };
    }),
    withScope(
      "traces:write",
      unary(TraceService.method.export, (_request, call) => {
        note("export", call);
        return {};
      }),
    ),
    serverStream(ScenarioService.method.launchScenario, async function* (_request, call) {
      note("launchScenario", call);
      yield {};
      await new Promise(() => undefined);
    }),
    withScope(
      "account",
      duplex(ServerReflection.method.serverReflectionInfo, async function* (requests, call) {
        note("reflection", call);
        try {
          for await (const { host } of requests) yield { validHost: host === "long" ? LONG : host };
        } finally {
          seen.ended.push("reflection");
        }
      }),
    ),
    ...health(async () => undefined),
  ];
  const server: RpcServer = await serveConnect({
    host: "127.0.0.1",
    port: 0,
    methods: methods.map((method) => ({ method, steps })),
    ...options,
  });
  return { server, seen, url: `http://127.0.0.1:${server.port}` };
}

export const GET_AGENT = "/core.v1.AgentService/GetAgent";
export const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
export const CHECK = "/grpc.health.v1.Health/Check";

/** What a call over HTTP/2 was answered with. */
export interface Answered {
  readonly headers: IncomingHttpHeaders & { readonly ":status"?: number | undefined };
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
  /** Bytes that the connection had taken of the client by then. */
  readonly taken: number;
}

/** Calls by hand, over a session. Nothing that goes wrong after the answer matters. */
export function call(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders,
  body: Uint8Array | undefined,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    const socket = SOCKETS.get(session) as Socket;
    const chunks: Buffer[] = [];
    let found: Answered["headers"] | undefined;
    let trailers: IncomingHttpHeaders = {};
    let failure: Error | undefined;
    stream.on("response", (value) => {
      found = value;
    });
    stream.on("trailers", (value) => {
      trailers = value;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", (error) => {
      failure = error;
    });
    stream.on("close", () => {
      if (found === undefined) reject(failure ?? new Error(`closed with ${stream.rstCode}`));
      else resolve({ headers: found, body: Buffer.concat(chunks).toString(), trailers, taken: socket.bytesWritten });
    });
    if (body !== undefined) stream.end(body);
  });
}

const SOCKETS = new WeakMap<ClientHttp2Session, Socket>();

/** Opens a session over HTTP/2. @param settings of the client, such as its window. */
export function open(url: string, settings: Settings = {}): ClientHttp2Session {
  const socket = connectSocket(Number(new URL(url).port), "127.0.0.1");
  const session = connect(url, { createConnection: () => socket, settings });
  SOCKETS.set(session, socket);
  session.on("error", () => undefined);
  return session;
}

/** So many empty sub-messages of a message's first field. */
export function emptyMessages(count: number): Buffer {
  const bytes = Buffer.alloc(2 * count);
  for (let at = 0; at < bytes.length; at += 2) bytes[at] = 0x0a;
  return bytes;
}

/** A message in an envelope, as gRPC sends it. */
export function envelope(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
