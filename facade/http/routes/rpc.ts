import type { FileRegistry } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { BearerCredentials } from "../../../services/shared/credentials/credentials.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { unimplemented } from "../../../services/shared/rpc/errors.js";
import { serviceOf } from "../../../services/shared/rpc/service.js";
import { exhausted } from "../../../services/shared/shares/refusal.js";
import type { Shares } from "../../../services/shared/shares/shares.js";
import type { Admit, NotAdmitted } from "../../admission/admit.js";
import type { Origins } from "../../admission/origins.js";
import type { NoPlace } from "../../admission/places.js";
import { BAD_ORIGIN, connectErrorOf, noPlaceError } from "../../admission/refusals.js";
import type { Rooms } from "../../admission/rooms.js";
import type { BodyStream } from "../exchange.js";
import type { Page, PageRequest, Route } from "../route.js";
import { CALLER, createRpcHandlers, type RpcHandler } from "../rpc/handlers.js";
import { rpcRefusal } from "../rpc/refusal.js";

/** The API that is forwarded, and who may come in. */
export interface RpcOptions {
  readonly dispatch: Dispatch;
  readonly admit: Admit;
  readonly rooms: Rooms;
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
 * gRPC. Who may not come in is refused before the body is read.
 */
export function rpcRoutes(options: RpcOptions): Route[] {
  const { dispatch, admit, rooms, origins, credentials, shares, image, base } = options;
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
    if (handler === "duplex") return refusals.of("duplex", type);
    if (!handler.serve.supportedContentType(type)) {
      return refusals.of(handler.method.methodKind === "server_streaming" ? "stream's type" : "type", type);
    }
    const admission = admit(request);
    if (admission instanceof Promise) {
      const waiting = rooms.waiting(request);
      if (typeof waiting === "string") return refusals.of("unavailable", type);
      request.occupy(waiting);
    }
    const known = await admission;
    if ("refused" in known) return refusals.of(known.refused, type);
    const place = rooms.admitted(known, request);
    if (typeof place === "string") return refusals.of(place, type);
    if (!request.occupy(place)) return refusals.of("full", type);
    if (known.assertions[serviceOf(handler.method) ?? ""] === undefined) {
      return refusals.of("unserved", type);
    }
    const share = shares.of(known.caller);
    const wait = shares.take(share);
    if (wait > 0) return rpcRefusal(exhausted(wait), type);
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

/** Why a call is not begun, besides its rate. */
type Why = NotAdmitted["refused"] | NoPlace | "origin" | "type" | "stream's type" | "no rpc" | "duplex" | "unserved";

/** The answers to calls that are not begun, each written once: many may be told the same. */
class Refusals {
  private readonly pages = new Map<string, Page>();

  /** @param type one that is spoken, or "". */
  of(why: Why, type: string): Page {
    const name = `${why} ${type}`;
    let page = this.pages.get(name);
    if (page === undefined) {
      page = { ...rpcRefusal(errorOf(why), type), stranger: !OF_THE_KNOWN.has(why) };
      this.pages.set(name, page);
    }
    return page;
  }
}

/** What who was let in is told too, and who may be a good key's owner. */
const OF_THE_KNOWN: ReadonlySet<Why> = new Set<Why>(["share", "full", "unserved", "unavailable"]);

function errorOf(why: Why): ConnectError {
  switch (why) {
    case "origin":
      return new ConnectError(BAD_ORIGIN.message, Code.PermissionDenied);
    case "type":
      return unimplemented(SEND);
    case "stream's type":
      return unimplemented("a streaming rpc is sent as application/connect+json or +proto");
    case "no rpc":
      return unimplemented("there is no such rpc");
    case "duplex":
      return unimplemented("an rpc that streams both ways is served on the gRPC port");
    case "unserved":
      return unimplemented("this rpc is not served here");
    case "share":
    case "full":
      return noPlaceError(why);
    default:
      return connectErrorOf(why);
  }
}

const SPOKEN = /^application\/(?:json|proto|connect\+json|connect\+proto|grpc-web(?:\+json|\+proto)?)$/;
const SEND = "send the message as application/json or application/proto";

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
