import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Call } from "../../../services/shared/rpc/call.js";
import { serveConnect } from "../../../services/shared/rpc/connect.js";
import { heardIn, LOCAL_HOST, TOKEN_HEADER } from "../../../services/shared/rpc/lane/announcement.js";
import { type Method, unary, withScope } from "../../../services/shared/rpc/method.js";
import { ANA } from "../../services/shared/rpc/lane/support.js";
import { openDoor, type Side, type Target } from "./door.js";
import { openSharing } from "./shared.js";

// The server that the suite calls: its service by methods of ours, behind a door
// that shows the token and does with headers what our methods cannot.

const [port, image] = process.argv.slice(2) as [string, string];
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(image)));
const PACKAGE = "connectrpc.conformance.v1";
const messageOf = (name: string): DescMessage => registry.getMessage(`${PACKAGE}.${name}`) as DescMessage;
const SERVICE = registry.getService(`${PACKAGE}.ConformanceService`);

interface Header {
  readonly name: string;
  readonly value: readonly string[];
}
interface AnyMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}
/** What a request says that it is to be answered with (service.proto of the suite). */
interface Definition {
  readonly responseHeaders: readonly Header[];
  readonly responseTrailers: readonly Header[];
  readonly responseDelayMs: number;
  readonly response:
    | { readonly case: "responseData"; readonly value: Uint8Array }
    | {
        readonly case: "error";
        readonly value: { readonly code: number; readonly message?: string; readonly details: readonly AnyMessage[] };
      }
    | { readonly case: undefined };
}

const sides = new Map<string, Side>();

function answering(name: string): Method {
  const desc = SERVICE?.methods.find((one) => one.name === name) as DescMethodUnary;
  return withScope(
    "account",
    unary(desc, async (request: Message & { readonly responseDefinition?: Definition }, call: Call) => {
      const side = sides.get(call.traceparent ?? "") ?? { headers: {}, answer: [] };
      const info = infoOf(side, desc.input, request);
      const asked = request.responseDefinition;
      if (asked === undefined) return { payload: { requestInfo: info } };
      await waiting(asked.responseDelayMs, call.signal);
      for (const { name, value } of asked.responseTrailers) side.answer.push(...pairs(`trailer-${name}`, value));
      const headers = asked.responseHeaders.flatMap((one) => pairs(one.name, one.value));
      if (asked.response.case === "error") throw errorOf(asked.response.value, headers, info);
      side.answer.push(...headers);
      const data = asked.response.case === undefined ? {} : { data: asked.response.value };
      return { payload: { ...data, requestInfo: info } };
    }),
  );
}

const pairs = (name: string, values: readonly string[]) => values.map((value) => [name, value] as const);

function infoOf({ headers }: Side, input: DescMessage, request: Message): Message {
  const timeout = headers["connect-timeout-ms"]?.[0];
  return create(messageOf("ConformancePayload.RequestInfo"), {
    requestHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
    ...(timeout !== undefined && { timeoutMs: BigInt(timeout) }),
    requests: [{ typeUrl: `type.googleapis.com/${input.typeName}`, value: toBinary(input, request) }],
  } as never);
}

function errorOf(
  { code, message = "", details }: { code: number; message?: string; details: readonly AnyMessage[] },
  headers: readonly (readonly [string, string])[],
  info: Message,
): ConnectError {
  const error = new ConnectError(
    message,
    code,
    headers.map(([name, value]): [string, string] => [name, value]),
  );
  const value = toBinary(messageOf("ConformancePayload.RequestInfo"), info);
  error.details = [
    ...details.map((one) => ({ type: one.typeUrl.split("/").at(-1) as string, value: one.value })),
    { type: info.$typeName, value },
  ];
  return error;
}

function waiting(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}

const steps = {
  authenticator: { authenticate: () => ({ caller: { ...ANA, keyId: "" }, assertion: "ana" }) },
  log: silentLog,
};
const server = await serveConnect({
  host: LOCAL_HOST,
  port: 0,
  methods: ["Unary", "IdempotentUnary"].map((name) => ({ method: answering(name), steps })),
  lane: { at: { host: LOCAL_HOST, port: 0 }, log: silentLog },
  slots: { calls: 10_000 },
});

// What the suite is told, and asks, on standard input and output (server_compat.proto): a length and a message.
await once(process.stdin, "readable");
process.stdin.read();
const own: Target = { host: LOCAL_HOST, port: server.port, headers: { "x-caller": "ana" } };
const target = port === "grpc" ? own : await byLane();
const { host, headers } = target;
const lane = { host, port: target.port, token: headers[TOKEN_HEADER] ?? "" };
const onward = port === "shared" ? { host, headers, port: await openSharing(lane) } : target;
const reply = { host: LOCAL_HOST, port: await openDoor(onward, sides) };
const response = messageOf("ServerCompatResponse");
const bytes = toBinary(response, create(response, reply as never));
const length = Buffer.alloc(4);
length.writeUInt32BE(bytes.length);
process.stdout.write(Buffer.concat([length, bytes]));
process.on("SIGTERM", () => process.exit(0));

async function byLane(): Promise<Target> {
  const url = `http://${LOCAL_HOST}:${server.port}`;
  const headers = { "content-type": "application/proto", "x-caller": "ana" };
  const answer = await fetch(`${url}/${PACKAGE}.ConformanceService/Unary`, { method: "POST", headers });
  const lane = heardIn(answer.headers, url);
  if (lane === undefined || "path" in lane) throw new Error("no port of a lane was announced");
  return { host: lane.host, port: lane.port, headers: { "x-caller": "ana", [TOKEN_HEADER]: lane.token } };
}
