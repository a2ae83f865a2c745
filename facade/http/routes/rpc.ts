import type { FileRegistry } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { BearerCredentials } from "../../../services/shared/credentials/credentials.js";
import type { Shares } from "../../../services/shared/limits/shares.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { permissionDenied, unimplemented } from "../../../services/shared/rpc/errors.js";
import { type Barred, type Enter, entryError, isUnauthenticated } from "../../admission/enter.js";
import type { Origins } from "../../admission/origins.js";
import { BAD_ORIGIN } from "../../admission/refusals.js";
import type { BodyStream } from "../exchange.js";
import type { Page, PageRequest, Route } from "../route.js";
import { CALLER, createRpcHandlers, type RpcHandler } from "../rpc/handlers.js";
import { rpcRefusal } from "../rpc/refusal.js";

/** The API that is forwarded, and who may come in. */
export interface RpcOptions {
  readonly dispatch: Dispatch;
  readonly enter: Enter;
  readonly origins: Origins;
  readonly credentials: Pick<BearerCredentials, "hold">;
  readonly shares: Shares;
  readonly image: FileRegistry;
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
}

/** Longest body of a request, in bytes. */
const MAX_BODY = 4 << 20;

/**
 * POST /rpc/<service>/<method>: the unary and server-streaming rpcs of the API
 * for clients that reach only the façade (Connect and gRPC-Web, JSON and
 * binary), as the user of the bearer token and behind the same gates as over
 * gRPC. Who may not come in is refused before the body is read, and so is every
 * call of an rpc that is for our own services, the service's own key included.
 */
export function rpcRoutes(options: RpcOptions): Route[] {
  const { dispatch, enter, origins, credentials, shares, image, base } = options;
  const prefix = `${base}/rpc/`;
  const find = createRpcHandlers({ dispatch, credentials, image, maxBytes: MAX_BODY });
  const refusals = new Refusals();

  async function handle(request: PageRequest<BodyStream>): Promise<Page> {
    const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    if (!origins.allows(request.headers.origin)) return refusals.of("origin", SPOKEN.test(type) ? type : "");
    if (!SPOKEN.test(type)) return refusals.of("type", "");
    const [service = "", name = "", ...rest] = request.path.slice(prefix.length).split("/");
    const handler = rest.length > 0 ? "unknown" : find(service, name);
    if (handler === "unknown") return refusals.of("no rpc", type);
    if (handler === "internal") return refusals.of("internal", type);
    if (handler === "duplex") return refusals.of("duplex", type);
    if (!handler.serve.supportedContentType(type)) {
      return refusals.of(handler.method.methodKind === "server_streaming" ? "stream's type" : "type", type);
    }
    const entered = await enter(request, handler.method);
    if ("barred" in entered) return refusals.entry(entered, type);
    const { known, share } = entered;
    return shares.run(share, async () => {
      const reply = await handler.serve({
        httpVersion: "1.1",
        url: `http://facade${request.path}`,
        method: "POST",
        header: protocolHeaders(request, type),
        body: request.body,
        signal: request.signal,
        contextValues: createContextValues().set(CALLER, known),
      });
      return pageOf(reply, handler);
    });
  }

  return [{ path: `${prefix}*`, methods: ["POST"], admits: true, takes: "stream", maxBody: MAX_BODY, handle }];
}

/** Why there is no call, before anybody asks who calls. */
type Why = "origin" | "type" | "stream's type" | "no rpc" | "internal" | "duplex";

/** The answers to calls that are not begun, each written once: many may be told the same. */
class Refusals {
  private readonly pages = new Map<string, Page>();

  /** @param type one that is spoken, or "". */
  of(why: Why, type: string): Page {
    return this.kept(`${why} ${type}`, () => ({ ...rpcRefusal(errorOf(why), type), unauthenticated: true }));
  }

  /** @param type one that is spoken. */
  entry(barred: Barred, type: string): Page {
    if (barred.barred === "rate") return rpcRefusal(entryError(barred), type);
    const make = () => ({ ...rpcRefusal(entryError(barred), type), unauthenticated: isUnauthenticated(barred) });
    return this.kept(`${barred.barred} ${type}`, make);
  }

  private kept(name: string, make: () => Page): Page {
    let page = this.pages.get(name);
    if (page === undefined) {
      page = make();
      this.pages.set(name, page);
    }
    return page;
  }
}

function errorOf(why: Why): ConnectError {
  switch (why) {
    case "origin":
      return new ConnectError(BAD_ORIGIN.message, Code.PermissionDenied);
    case "type":
      return unimplemented(SEND);
    case "stream's type":
      return unimplemented(
        "the media type is not supported: send a streaming rpc as application/connect+json or application/connect+proto",
      );
    case "no rpc":
      return unimplemented("the API has no such rpc: check the service and the method in the URL");
    case "internal":
      return permissionDenied("only the services of this deployment may call this rpc, and they use the gRPC port");
    case "duplex":
      return unimplemented("this address has no bidirectional streams: call this rpc on the gRPC port");
  }
}

const SPOKEN = /^application\/(?:json|proto|connect\+json|connect\+proto|grpc-web(?:\+json|\+proto)?)$/;
const SEND = "the media type is not supported: send the message as application/json or application/proto";

/** The headers that the protocols have; the rest is not the services' business. */
const PROTOCOL_HEADERS = [
  "connect-protocol-version",
  "connect-timeout-ms",
  "connect-content-encoding",
  "content-encoding",
  "grpc-encoding",
  "grpc-timeout",
  "x-grpc-web",
];
const PRINTABLE = /^[\x20-\x7e]+$/;
/** A client's own limit, in milliseconds, as the Connect protocol writes it. */
const CONNECT_TIMEOUT = /^[1-9]\d{0,9}$/;

function protocolHeaders({ headers }: PageRequest<unknown>, type: string): Headers {
  const kept = new Headers({ "content-type": type });
  for (const name of PROTOCOL_HEADERS) {
    const value = headers[name];
    if (value === undefined || !PRINTABLE.test(value)) continue;
    // A limit that is none is not a reason to refuse: ours holds.
    if (name === "connect-timeout-ms" && !CONNECT_TIMEOUT.test(value)) continue;
    kept.set(name, value);
  }
  return kept;
}

/** The answer of one message goes out in full, with its length; a stream as it comes. */
async function pageOf(reply: UniversalServerResponse, { method }: RpcHandler): Promise<Page> {
  const { status, header = new Headers(), body } = reply;
  // The edge writes the length.
  header.delete("content-length");
  const headers = [...[...header].flat(), "cache-control", "no-store"];
  if (body === undefined || method.methodKind !== "unary") return { status, headers, ...(body && { body }) };
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return { status, headers, body: pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces) };
}
