import type { IncomingMessage, ServerResponse } from "node:http";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import inject from "light-my-request";
import type {
  HandleHttpRequestSchema,
  HandleHttpResponseSchema,
} from "#proto/auth/v1/authorization_server_service_pb.js";
import { parsedUrl } from "../../shared/parsed-url.js";

/** Has a handler of Node's HTTP messages answer one that the façade passes on. */
export async function injected(
  issuer: URL,
  { method, target, headers, body, address }: MessageShape<typeof HandleHttpRequestSchema>,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<MessageInitShape<typeof HandleHttpResponseSchema>> {
  // Parsers of URLs leave these out; the library looks at the text before.
  const url = target.replace(/[\t\n\r]/g, "");
  const answer = await inject((request, response) => void handle(request, response), {
    method: method as "GET",
    // There is nothing at "/", as there is nothing at what is no URL.
    url: isReadable(url) ? url : "/",
    headers: headersOf(issuer, headers, address),
    ...(body.length > 0 && { payload: Buffer.from(body) }),
  });
  const fields = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => ({ name, value: String(one) })),
  );
  return { status: answer.statusCode, headers: fields, body: answer.rawPayload };
}

/** Whether light-my-request can parse a target: it puts its own origin before "//". */
function isReadable(url: string): boolean {
  const origin = "http://localhost";
  return url !== "" && parsedUrl(url.startsWith("//") ? `${origin}${url}` : url, origin) !== undefined;
}

/** The library builds every URL that it writes of the request's host: that is the public one, whatever was sent. */
function headersOf(
  { host, protocol }: URL,
  sent: readonly { readonly name: string; readonly value: string }[],
  address: string,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const { name, value } of sent) if (PASSED.has(name)) kept[name] = value;
  return {
    ...kept,
    host,
    "x-forwarded-host": host,
    "x-forwarded-proto": protocol.slice(0, -1),
    "x-forwarded-for": address,
  };
}

/** What the library and the pages read; whatever else a client sends stays outside. */
const PASSED: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "access-control-request-headers",
  "access-control-request-method",
  "authorization",
  "content-type",
  "cookie",
  "origin",
  "sec-fetch-site",
  "user-agent",
]);
