import { calledUrlProblem } from "../../../shared/platform-address.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";

/** An endpoint as it is kept: paths are appended to it. @throws ConnectError invalid_argument. */
export function keptEndpoint(endpoint: string): string {
  const problem = calledUrlProblem(endpoint) ?? (endpoint.includes("?") ? "must have no query (?)" : undefined);
  if (problem !== undefined) throw invalidArgument(`endpoint ${problem}`);
  return endpoint.replace(/\/+$/, "");
}
