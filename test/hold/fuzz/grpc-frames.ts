import { connect as connectHttp2, constants } from "node:http2";
import { create, type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";
import { createConnectRouter } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalHandler } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { silentLog } from "../../../services/shared/process/log.js";
import { bounded } from "../../../services/shared/rpc/bounded.js";
import type { Caller } from "../../../services/shared/rpc/call.js";
import { chain } from "../../../services/shared/rpc/chain.js";
import { serveConnect } from "../../../services/shared/rpc/connect.js";
import { type Method, withScope } from "../../../services/shared/rpc/method.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { anyMessage } from "../../facade/support/arbitrary-message.js";
import { changedBytes, type Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

const SCOPES = ["account", "admin", "delegated", "internal", "public"];
const SERVERS = ["cti", "aev", "grc", "core", "traces"];
const ANY: Caller = {
  id: "u1",
  email: "a@example.org",
  name: "A",
  admin: true,
  groups: [],
  scopes: new Set([...SCOPES, ...SERVERS.flatMap((name) => [`${name}:read`, `${name}:write`])]),
  keyId: "k1",
  service: true,
};
const TYPES = ["application/grpc", "application/grpc-web+proto", "application/proto", "application/json"];
/** gRPC's and Connect's words for a fault of ours. */
const FAULT = /"code":"(?:internal|unknown)"/;
const FAULT_STATUS = new Set(["2", "13"]);

interface Sample {
  readonly method: DescMethod;
  readonly serve: UniversalHandler;
  readonly messages: readonly Buffer[];
}

/**
 * The unary rpcs of the whole API behind their rules: messages of every type
 * with their bytes changed, in frames with theirs changed. Most are given to
 * connect's own handlers in this process, one in fifty to a port.
 */
export async function fuzzGrpcFrames(): Promise<FuzzTarget> {
  const steps = { authenticator: { authenticate: () => ({ caller: ANY, assertion: "a" }) }, log: silentLog };
  const methods: Method[] = [...readImage()].flatMap((desc) =>
    desc.kind === "service"
      ? desc.methods
          .filter((method) => method.methodKind === "unary")
          .map((method) => withScope("account", { desc: method, handle: () => create(method.output) }))
      : [],
  );
  const samples = methods.map((method): Sample => {
    const router = createConnectRouter({ acceptCompression: [] });
    const run = chain(method, steps);
    const call = { credential: {}, signal: new AbortController().signal };
    router.rpc(method.desc as never, ((request: unknown) => run(request, call)) as never);
    const drawn = fc.sample(anyMessage(method.desc.input), { seed: 8, numRuns: 6 }) as Message[];
    const messages = drawn.map((message) => Buffer.from(toBinary(method.desc.input, message)));
    return { method: method.desc, serve: bounded(router.handlers[0] as UniversalHandler, {}), messages };
  });
  const server = await serveConnect({
    host: "127.0.0.1",
    port: 0,
    methods: methods.map((method) => ({ method, steps })),
  });
  const session = () => connectHttp2(`http://127.0.0.1:${server.port}`).on("error", () => undefined);
  let http2 = session();

  const refusals = new Set<string>();
  const told = (answer: Answer): Answer => {
    const said = /grpc-message: ?(.*)|"message":"((?:[^"\\]|\\.)*)/.exec(answer.text);
    const word =
      /"code":"(\w+)"/.exec(answer.text)?.[1] ?? /grpc-status: ?(\d+)/.exec(answer.text)?.[1] ?? answer.status;
    if (word !== "" && word !== "0")
      refusals.add(`${word} ${wordsOf(decodeURIComponentOr(said?.[1] ?? said?.[2] ?? ""))}`);
    return answer;
  };

  return {
    name: "gRPC frames",
    refusals,
    async one(random) {
      const { method, serve, messages } = random.pick(samples);
      const type = random.pick(TYPES);
      const body = bodyOf(random.pick(messages), type, random);
      const path = `/${method.parent.typeName}/${method.name}`;
      if (!random.once(50)) return problemOf(told(await answerOf(serve, type, body)), path, type, body);
      if (http2.closed || http2.destroyed) http2 = session();
      return problemOf(told(await answerOver(http2, path, type, body)), path, type, body);
    },
    async close() {
      http2.destroy();
      await server.close(100);
    },
  };
}

/** Messages of gRPC are percent-encoded. */
function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function bodyOf(message: Buffer, type: string, random: Random): Buffer {
  const changed = random.once(6) ? message : changedBytes(message, random);
  if (!type.includes("grpc")) return changed;
  const framed = Buffer.from(encodeEnvelope(random.once(20) ? random.int(256) : 0, changed));
  return random.once(4) ? changedBytes(framed, random) : framed;
}

interface Answer {
  readonly status: string;
  readonly text: string;
}

async function answerOf(serve: UniversalHandler, type: string, bytes: Buffer): Promise<Answer> {
  const body = (async function* () {
    yield bytes;
  })();
  const reply = await serve({
    httpVersion: "2.0",
    url: "http://fuzz/",
    method: "POST",
    header: new Headers({ "content-type": type }),
    body,
    // Of its own: what is linked to a signal lives as long as it.
    signal: new AbortController().signal,
    contextValues: undefined as never,
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of (reply.body ?? []) as AsyncIterable<Uint8Array>) pieces.push(piece);
  const status = reply.trailer?.get("grpc-status") ?? reply.header?.get("grpc-status") ?? "";
  return { status, text: Buffer.concat(pieces).toString() };
}

function answerOver(http2: ReturnType<typeof connectHttp2>, path: string, type: string, body: Buffer): Promise<Answer> {
  return new Promise((resolve) => {
    const stream = http2.request({ [constants.HTTP2_HEADER_METHOD]: "POST", ":path": path, "content-type": type });
    let status = "";
    let text = "";
    const note = (headers: Record<string, unknown>): void => {
      status = String(headers["grpc-status"] ?? status);
    };
    stream.on("response", note);
    stream.on("trailers", note);
    stream.on("data", (piece: Buffer) => {
      text += piece.toString();
    });
    stream.on("error", () => undefined);
    stream.on("close", () => resolve({ status, text }));
    stream.end(body);
  });
}

function problemOf({ status, text }: Answer, path: string, type: string, body: Buffer): string | undefined {
  const inTrailers = /grpc-status: ?(\d+)/.exec(text)?.[1] ?? "";
  if (!FAULT_STATUS.has(status) && !FAULT_STATUS.has(inTrailers) && !FAULT.test(text)) return undefined;
  return `${path} ${type}: ${status} ${text.slice(0, 300)} to ${body.toString("hex").slice(0, 400)}`;
}
