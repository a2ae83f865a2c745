import type { Known } from "../../services/shared/credentials/known.js";
import { counter, histogram } from "../../services/shared/metrics/metrics.js";
import { clientLabelIn, clientLabelOf } from "./client-label.js";
import { RpcError } from "./json-rpc.js";
import type { Admitted } from "./server.js";
import { CredentialError } from "./tool-call.js";

const durations = histogram(
  "mcp_server_operation_duration_seconds",
  "Time from the headers of a request to its answer (OpenTelemetry: mcp.server.operation.duration).",
  ["server", "mcp_method_name", "gen_ai_tool_name", "error_type"],
);
const requests = counter("sallyport_mcp_requests_total", "MCP requests by what came of them.", [
  ...["server", "era", "client", "outcome"],
]);

/** The eras of the protocol. */
export type Era = "modern" | "legacy";

/** The outcome of a request that has a result, and of a result that is an error which its model can act on. */
const OK = "ok";
const TOOL_ERROR = "tool_error";
/** An error that is none of ours. */
const FAULT = "_OTHER";

/** The methods that are counted by name; what callers name otherwise is counted together. */
const METHODS: ReadonlySet<string> = new Set([
  ...["initialize", "ping", "server/discover", "subscriptions/listen", "tools/list", "tools/call"],
]);

/** What clients of the legacy era, whose calls name no client, called themselves when they connected. */
const connected = new WeakMap<Known, string>();

/** Remembers the name by which a client connected. @param info its clientInfo, as it came. */
export function rememberClient(known: Known, info: unknown): void {
  const label = clientLabelIn(info);
  if (label !== undefined) connected.set(known, label);
}

/** One MCP request that is being answered, for the metrics. */
export class Operation {
  /** The name of the tool that it calls: one that the server has. */
  tool = "";
  #client: string | undefined;

  constructor(
    private readonly admitted: Admitted,
    private readonly era: Era,
    private readonly method: string,
  ) {}

  /** @param info clientInfo, as it came. */
  from(info: unknown): void {
    this.#client = clientLabelIn(info);
  }

  /** It has its answer. @param failed that is an error, or a result that is one. */
  end(failed?: unknown): void {
    const { server, known, exchange, startedAt } = this.admitted;
    const error = failed === undefined ? "" : failed === true ? TOOL_ERROR : errorTypeOf(failed);
    const method = METHODS.has(this.method) ? this.method : FAULT;
    durations.of(server.name, method, this.tool, error).add((performance.now() - startedAt) / 1_000);
    const client = this.#client ?? connected.get(known) ?? clientLabelOf(exchange.headers["user-agent"]);
    requests.of(server.name, this.era, client, error === "" ? OK : error).add();
  }
}

/** An error in a word: the one that it has for programs, or else its code. */
function errorTypeOf(error: unknown): string {
  if (error instanceof CredentialError) return error.refused;
  if (!(error instanceof RpcError)) return FAULT;
  const word = error.data?.error;
  return typeof word === "string" ? word : String(error.code);
}
