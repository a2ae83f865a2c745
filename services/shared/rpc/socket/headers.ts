import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import { ASSERTION_HEADER, type Credential } from "../call.js";
import { LONGEST_TIMER_MS } from "../steps/deadline.js";
import type { NodeRequest } from "./body.js";

/** What a request presents. */
export function credentialOf({ headers }: NodeRequest): Credential {
  const assertion = headers[ASSERTION_HEADER];
  const { authorization } = headers;
  return {
    ...(typeof assertion === "string" && { assertion }),
    ...(authorization !== undefined && { authorization }),
  };
}

/** The W3C trace context of a request. */
export function traceparentOf({ headers }: NodeRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === "string" ? traceparent : undefined;
}

/** A request's headers as connect takes them; a deadline that no timer can wait for is none. */
export function headerOf({ headers }: NodeRequest): Headers {
  const header = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const one of Array.isArray(value) ? value : [value]) header.append(name, one);
  }
  dropEndless(header, "connect-timeout-ms", parseConnectTimeout);
  dropEndless(header, "grpc-timeout", parseGrpcTimeout);
  return header;
}

function dropEndless(header: Headers, name: string, parse: typeof parseConnectTimeout): void {
  const { timeoutMs } = parse(header.get(name), Number.MAX_SAFE_INTEGER);
  if (timeoutMs !== undefined && timeoutMs > LONGEST_TIMER_MS) header.delete(name);
}
