import { Agent, request } from "node:http";
import { createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";

/** What became of a good key's calls while others did harm; times in milliseconds. */
export interface Report {
  readonly calls: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** What failed, a sentence each. */
  readonly failures: readonly string[];
}

/** Where the good client calls, and as whom. */
export interface GoodClientOptions {
  readonly baseUrl: string;
  readonly grpcAddress: string;
  readonly key: string;
}

/** How long it waits between the beginnings of two calls, in milliseconds. */
const PACE_MS = 25;
const PATIENCE_MS = 30_000;

/**
 * Calls a tool over MCP and an rpc over gRPC by turns, on a connection that it
 * keeps and on a new one by turns, until the signal says that it is enough.
 */
export async function callSteadily(
  { baseUrl, grpcAddress, key }: GoodClientOptions,
  enough: AbortSignal,
): Promise<Report> {
  const kept = new Agent({ keepAlive: true });
  const transport = (): Transport =>
    createGrpcTransport({ baseUrl: `http://${grpcAddress}`, defaultTimeoutMs: PATIENCE_MS });
  const keptTransport = transport();
  const headers = { authorization: `Bearer ${key}` };
  const overGrpc = (over: Transport): Promise<unknown> => createClient(AgentService, over).listAgents({}, { headers });
  const ways: readonly [string, () => Promise<unknown>][] = [
    ["MCP, kept", () => callTool(baseUrl, key, kept)],
    ["gRPC, kept", () => overGrpc(keptTransport)],
    ["MCP, new", () => callTool(baseUrl, key, new Agent())],
    ["gRPC, new", () => overGrpc(transport())],
  ];
  const times: number[] = [];
  const failures: string[] = [];
  const pending: Promise<void>[] = [];
  for (let n = 0; !enough.aborted; n++) {
    const [name, call] = ways[n % ways.length]!;
    const began = performance.now();
    pending.push(
      call().then(
        () => void times.push(performance.now() - began),
        (error: Error) => void failures.push(`${name}: ${error.message}`),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  await Promise.all(pending);
  kept.destroy();
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN;
  return { calls: pending.length, p50: at(0.5), p99: at(0.99), max: at(1), failures };
}

function callTool(baseUrl: string, key: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_agents", arguments: { page_size: 1 } },
    });
    const sent = request(`${baseUrl}/mcp/core`, {
      method: "POST",
      agent,
      timeout: PATIENCE_MS,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
      },
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)));
    sent.on("error", reject);
    sent.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => {
        text += piece;
      });
      answer.on("error", reject);
      answer.on("end", () => {
        const ok =
          answer.statusCode === 200 && text.includes('"structuredContent"') && !text.includes('"isError":true');
        if (ok) resolve();
        else reject(new Error(`${answer.statusCode} ${text.slice(0, 200)}`));
      });
    });
    sent.end(body);
  });
}
