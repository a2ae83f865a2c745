import { once } from "node:events";
import { createServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, connect as connectSocket, createServer as createTcpServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import type { Authenticator, Call, Caller, Credential } from "../../../../../services/shared/rpc/call.js";
import { type Options, type RpcServer, serveConnect } from "../../../../../services/shared/rpc/connect.js";
import type { Dispatch, Outgoing } from "../../../../../services/shared/rpc/dispatch.js";
import { unauthenticated } from "../../../../../services/shared/rpc/errors.js";
import { type HeardLane, heardIn, LOCAL_HOST } from "../../../../../services/shared/rpc/lane/announcement.js";
import { type Method, unary, withScope } from "../../../../../services/shared/rpc/method.js";
import { connectRemote } from "../../../../../services/shared/rpc/remote.js";

export const ANA: Caller = {
  id: "u1",
  email: "ana@example.org",
  name: "Ana",
  admin: false,
  groups: [],
  scopes: new Set(["account", "core:read", "core:write", "traces:write"]),
  keyId: "k1",
  service: false,
};

/** Knows `ana`, by an assertion as our own processes present it, and by a key as everybody does. */
export const authenticator: Authenticator = {
  authenticate({ assertion, authorization }: Credential) {
    if (assertion === "ana" || authorization === "Bearer ana") return { caller: ANA, assertion: "ana" };
    throw unauthenticated("this credential is not known");
  },
};

/** What the methods of a rig do and saw; a test changes what they do. */
export interface World {
  /** Names of the methods that were begun. */
  readonly begun: string[];
  readonly calls: Call[];
  get(agentId: string, call: Call): unknown;
  create(name: string, call: Call): unknown;
  exported(request: object): void;
}

/** A server of methods with a lane, and a way to call it as our own processes do. */
export async function startLane({
  authenticator: known = authenticator,
  extra = [],
  ...options
}: Partial<Options> & {
  readonly authenticator?: Authenticator;
  /** Methods in place of those of the rig that have the same rpc. */
  readonly extra?: readonly Method[];
} = {}) {
  const world: World = {
    begun: [],
    calls: [],
    get: (agentId) => ({ agent: { id: agentId } }),
    create: (name) => ({ agent: { name } }),
    exported: () => undefined,
  };
  const steps = { authenticator: known, log: silentLog };
  const note = (name: string, call: Call): void => {
    world.begun.push(name);
    world.calls.push(call);
  };
  const methods: Method[] = [
    unary(AgentService.method.getAgent, ({ agentId }, call) => {
      note("get", call);
      return world.get(agentId, call) as object;
    }),
    unary(AgentService.method.createAgent, ({ name }, call) => {
      note("create", call);
      return world.create(name, call) as object;
    }),
    unary(AgentService.method.listAgents, (_request, call) => {
      note("list", call);
      return {};
    }),
    withScope(
      "traces:write",
      unary(TraceService.method.export, (request, call) => {
        note("export", call);
        world.exported(request);
        return {};
      }),
    ),
  ];
  const server: RpcServer = await serveConnect({
    host: LOCAL_HOST,
    port: 0,
    methods: [...methods.filter(({ desc }) => extra.every((one) => one.desc !== desc)), ...extra].map((method) => ({
      method,
      steps,
    })),
    lane: { at: { host: LOCAL_HOST, port: 0 }, log: silentLog },
    ...options,
  });
  const door = await openDoor(server.port);
  const dispatch = connectRemote({ "core-objects": door.url, traces: door.url });
  return {
    world,
    server,
    door,
    dispatch,
    async close() {
      await door.close();
      await server.close(0);
    },
  };
}

export const OURS: Outgoing = { credential: { assertion: "ana" } };
export const GET = AgentService.method.getAgent;
export const CREATE = AgentService.method.createAgent;
export const GET_PATH = "/core.v1.AgentService/GetAgent";

/** Calls until a call comes by the lane, and not by the gRPC port. */
export async function untilOnLane(dispatch: Dispatch, door: Door): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const before = door.calls();
    await dispatch.unary(GET, { agentId: "warm" }, OURS);
    if (door.calls() === before) return;
    await sleep(5);
  }
  throw new Error("no call came by the lane");
}

/** Stands in front of a gRPC port: knows what comes to it, and may announce another port for its lane. */
export interface Door {
  readonly url: string;
  /** How many calls came here. */
  calls(): number;
  /** Hands them to another port from now on. */
  leadTo(port: number): void;
  announceAt(lanePort: number): void;
  close(): Promise<void>;
}

/** Opens one. It speaks HTTP/2, as our own processes do. */
export async function openDoor(to: number): Promise<Door> {
  let port = to;
  let lanePort: number | undefined;
  let calls = 0;
  const sessions = new Set<ServerHttp2Session>();
  const forward = async (request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> => {
    calls++;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith(":"));
    const url = `http://${LOCAL_HOST}:${port}${request.url}`;
    const answer = await fetch(url, { method: "POST", headers: headers as [string, string][], body });
    const found = Object.fromEntries([...answer.headers].filter(([name]) => !OF_HTTP1.has(name)));
    if (lanePort !== undefined && "alt-svc" in found) found["alt-svc"] = `http%2F1.1=":${lanePort}"`;
    response.writeHead(answer.status, found);
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
  const server = createServer((request, response) => {
    forward(request, response).catch(() => request.stream.session?.destroy());
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  await once(server.listen(0, LOCAL_HOST), "listening");
  return {
    url: `http://${LOCAL_HOST}:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    leadTo: (other) => {
      port = other;
    },
    announceAt: (other) => {
      lanePort = other;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}
const OF_HTTP1: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** A port that leads to another, and can lose its connections. */
export interface Relay {
  readonly port: number;
  cut(): void;
  /** Hands on nothing any more, as a machine that is gone. */
  stall(): void;
  close(): Promise<void>;
}

export async function openRelay(to: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((from) => {
    const onward = connectSocket(to, LOCAL_HOST);
    for (const one of [from, onward]) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => {
        sockets.delete(one);
        from.destroy();
        onward.destroy();
      });
    }
    from.pipe(onward).pipe(from);
  });
  await once(server.listen(0, LOCAL_HOST), "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    stall: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

/** What the gRPC port answers a call of `getAgent` with. */
export async function headersOfGrpcPort(port: number, headers: Record<string, string>): Promise<Headers> {
  const transport = createConnectTransport({ baseUrl: `http://${LOCAL_HOST}:${port}`, httpVersion: "1.1" });
  return (await transport.unary(GET, undefined, undefined, headers, { agentId: "a" })).header;
}

/** The port of the lane that the gRPC port announces to our own processes. */
export async function laneAt(port: number): Promise<Extract<HeardLane, { readonly port: number }>> {
  const heard = heardIn(await headersOfGrpcPort(port, { "x-caller": "ana" }), `http://${LOCAL_HOST}:${port}`);
  if (heard === undefined || "path" in heard) throw new Error("no port of a lane was announced");
  return heard;
}

/** A connection to a lane, by hand. */
export function openByHand(where: { readonly host: string; readonly port: number } | { readonly path: string }) {
  const socket = "path" in where ? connectSocket(where.path) : connectSocket(where.port, where.host);
  let text = "";
  socket
    .on("error", () => undefined)
    .on("data", (piece) => {
      text += piece.toString("latin1");
    });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  return { socket, said: () => text, closed };
}

/** The head of a call by hand. */
export function headOf(path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: "h", "content-type": "application/proto", ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}
