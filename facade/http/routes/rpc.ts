import {
  type DescMethodUnary,
  type FileRegistry,
  fromJsonString,
  type Message,
  toJsonString,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { invalidArgument, unauthenticated, unavailable, unimplemented } from "../../../services/shared/rpc/errors.js";
import { serviceOf } from "../../../services/shared/rpc/service.js";
import { bearerOf } from "../../admission/challenge.js";
import type { Credentials } from "../../admission/credentials.js";
import type { BadTokens } from "../../admission/limits.js";
import { JSON_HEADERS, type Page, type PageRequest, type Route, STATUS, type Status } from "../http.js";

export interface RpcOptions {
  readonly dispatch: Dispatch;
  readonly credentials: Credentials;
  readonly badTokens: BadTokens;
  readonly image: FileRegistry;
  /** Where the client is: behind proxies not the address of the connection. */
  readonly addressOf: (request: PageRequest) => string;
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
}

const MAX_BODY = 4 << 20;
const TIMEOUT_MS = 60_000;

/**
 * POST /rpc/<service>/<method>: the unary rpcs of the API for clients that
 * reach only the façade (Connect protocol, unary, JSON), as the user of the
 * bearer token and behind the same gates as over gRPC.
 */
export function rpcRoutes({ dispatch, credentials, badTokens, image, addressOf, base }: RpcOptions): Route[] {
  const prefix = `${base}/rpc/`;

  async function assertionFor(request: PageRequest, method: DescMethodUnary): Promise<string> {
    const token = bearerOf(request.headers.authorization);
    if (token === undefined) throw unauthenticated("sign in, or send an API key as a bearer token");
    const kept = credentials.peek(token);
    const address = addressOf(request);
    if (kept === undefined && !badTokens.allows(address, token)) {
      throw unauthenticated("too many failed credentials: try again in a minute");
    }
    const known = kept ?? (await credentials.verify(token));
    if ("refused" in known) {
      if (known.refused === "unavailable") throw unavailable("credentials cannot be verified at the moment: try again");
      badTokens.refused(address, token);
      throw unauthenticated("the API key or token is not accepted: create a new API key, or sign in again");
    }
    const assertion = known.assertions[serviceOf(method) ?? ""];
    if (assertion === undefined) throw unimplemented("this rpc is not served here");
    return assertion;
  }

  async function answer(request: PageRequest): Promise<string> {
    const type = request.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
    if (type !== "application/json") throw unimplemented("send the message as application/json");
    const method = methodAt(request.path.slice(prefix.length), image);
    const assertion = await assertionFor(request, method);
    let message: Message;
    try {
      message = fromJsonString(method.input, request.body, { registry: image });
    } catch (error) {
      throw invalidArgument((error as Error).message, error);
    }
    const reply = await dispatch.unary(method, message as never, {
      credential: { assertion },
      signal: request.signal,
      deadline: Date.now() + timeoutOf(request),
    });
    return toJsonString(method.output, reply, { registry: image });
  }

  async function handle(request: PageRequest): Promise<Page> {
    try {
      return { status: 200, headers: JSON_HEADERS, body: await answer(request) };
    } catch (error) {
      const failed = ConnectError.from(error);
      const status = codeToHttpStatus(failed.code);
      // The cause and the words of an error of ours stay inside.
      const told =
        failed.code === Code.Internal || failed.code === Code.Unknown
          ? new ConnectError("internal error", failed.code)
          : failed;
      const body = JSON.stringify(errorToJson(told, { registry: image }));
      return { status: status in STATUS ? (status as Status) : 500, headers: JSON_HEADERS, body };
    }
  }

  return [{ path: `${prefix}*`, methods: ["POST"], maxBody: MAX_BODY, handle }];
}

function methodAt(path: string, image: FileRegistry): DescMethodUnary {
  const [service = "", name = "", ...rest] = path.split("/");
  const method = rest.length === 0 ? image.getService(service)?.methods.find((one) => one.name === name) : undefined;
  if (method === undefined) throw unimplemented("there is no such rpc");
  if (method.methodKind !== "unary") throw unimplemented("a streaming rpc is served on the gRPC port");
  return method as DescMethodUnary;
}

/** The client's own limit, up to ours (Connect protocol, Connect-Timeout-Ms). */
function timeoutOf({ headers }: PageRequest): number {
  const asked = Number(headers["connect-timeout-ms"]);
  return Number.isInteger(asked) && asked > 0 ? Math.min(asked, TIMEOUT_MS) : TIMEOUT_MS;
}
