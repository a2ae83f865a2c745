import { invalidArgument } from "../../shared/rpc/errors.js";

/** Headers that say how a message is carried (RFC 9110, sections 7.6.1 and 10.1.1), or to whom: the sender's own. */
const OWN: ReadonlySet<string> = new Set([
  ...["host", "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["content-length", "content-type", "content-encoding", "expect", "proxy-authorization"],
]);

/**
 * Checks a header that is sent later (RFC 9110, section 5.1: its name is a token, and its value printable).
 *
 * @throws ConnectError invalid_argument, also for a header that nobody sets but who sends the request.
 */
export function checkHeader(name: string, value: string): void {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
    throw invalidArgument("the name of a header must be a valid HTTP header name, such as X-Api-Key");
  if (!/^[\t -~]*$/.test(value)) throw invalidArgument(`the value of the header ${name} must be printable ASCII`);
  if (OWN.has(name.toLowerCase())) throw invalidArgument(`the service sets the header ${name} itself: omit it`);
}
