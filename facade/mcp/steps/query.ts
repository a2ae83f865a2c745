import type { McpServer } from "../../catalogue/servers.js";
import type { McpRequest, StepResult } from "../request.js";

/** Reads what the query of the URL asks for. */
export function readQuery(request: McpRequest): StepResult {
  const server = request.serving.servers.get(request.endpoint.server) as McpServer;
  const options = server.readQuery(request.exchange.query);
  if ("status" in options) return options;
  request.server = server;
  request.options = options;
  return undefined;
}
