import { ProxyError } from "./tunnel.js";

/** What is said of everything that goes wrong before an answer: a closed port, one that is silent, and one that speaks something else. */
export const UNANSWERED =
  "it did not answer as expected: check its URL, and ask an administrator whether the service can reach it";

/** Whether an error is one of the network, of TLS or of HTTP itself, and not of what was answered. */
export function isUnanswered(error: unknown): boolean {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (error instanceof ProxyError || name === "TimeoutError" || name === "HTTPParserError") return true;
  if (typeof code !== "string") return false;
  return /^(?:E[A-Z]+|UND_ERR_\w+|HPE_\w+|ERR_(?:SSL|TLS)_\w+|[A-Z_]*(?:CERT|SIGNATURE|ISSUER)[A-Z_]*)$/.test(code);
}
