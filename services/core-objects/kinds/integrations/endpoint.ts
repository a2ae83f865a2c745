import { calledUrlProblem } from "../../../shared/outgoing/named-url.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { Writer } from "../../objects/writer.js";

/** An endpoint as it is kept: paths are appended to it. @throws ConnectError invalid_argument. */
export function keptEndpoint(endpoint: string, writer: Writer): string {
  const problem = calledUrlProblem(endpoint) ?? (endpoint.includes("?") ? "must not have a query (?)" : undefined);
  if (problem !== undefined) throw invalidArgument(`endpoint ${problem}`);
  writer.checkAddress("endpoint", endpoint);
  return endpoint.replace(/\/+$/, "");
}
