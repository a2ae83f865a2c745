import { request } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { makeKeysOf } from "../support/new-keys.js";
import { type Program, startProgram } from "../support/program.js";

// What a key and its user may call in all, where façade workers divide it: the
// kernel deals connections out to them, and each has its part of the rates.

const WORKERS = 2;
const KEY_BURST = 40;
const USER_BURST = 60;
const CALLS = 150;
/** Calls that come back: one a second in each worker, which is rounded up. */
const perSecond = WORKERS;

let program: Program;
let keys: readonly string[];
let began: number;
beforeAll(async () => {
  program = await startProgram({
    env: {
      WORKERS: String(WORKERS),
      CALL_BURST: String(KEY_BURST),
      CALLS_PER_SECOND: "1",
      USER_CALL_BURST: String(USER_BURST),
      USER_CALLS_PER_SECOND: "1",
    },
  });
  keys = await makeKeysOf(program, program.bootstrap.analyst.email, 2);
  began = performance.now();
});
afterAll(() => program?.stop());

/** One call of a tool on a connection of its own; its status. */
function call(key: string): Promise<number | undefined> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "list_agents", arguments: { page_size: 1 } },
  });
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = request(`${program.baseUrl}/mcp/core`, { method: "POST", agent: false, headers }, (reply) => {
      reply.resume().on("end", () => resolve(reply.statusCode));
    });
    sent.on("error", reject).end(body);
  });
}

async function answered(key: string): Promise<number> {
  const statuses = await Promise.all(Array.from({ length: CALLS }, () => call(key)));
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  return statuses.filter((status) => status === 200).length;
}
const cameBack = (): number => Math.ceil((perSecond * (performance.now() - began)) / 1_000);

test("over many connections a key has its burst once, not once a worker; nor has its user", async () => {
  const ofFirst = await answered(keys[0] as string);
  expect(ofFirst).toBeGreaterThanOrEqual(KEY_BURST);
  expect(ofFirst).toBeLessThanOrEqual(KEY_BURST + cameBack());
  const ofSecond = await answered(keys[1] as string);
  expect(ofSecond).toBeGreaterThan(0);
  expect(ofFirst + ofSecond).toBeLessThanOrEqual(USER_BURST + cameBack());
});

test("the gRPC port, which is another process's, counts for itself", async () => {
  const { grpc_url: baseUrl } = program.bootstrap;
  const agents = connectClient(AgentService, { baseUrl, apiKey: keys[0] as string, retries: 0 });
  const codes = await Promise.all(
    Array.from({ length: CALLS }, () =>
      agents.listAgents({ pageSize: 1 }).then(
        () => undefined,
        (error: unknown) => ConnectError.from(error).code,
      ),
    ),
  );
  expect(new Set(codes)).toEqual(new Set([undefined, Code.ResourceExhausted]));
  expect(codes.filter((code) => code === undefined).length).toBeLessThanOrEqual(KEY_BURST + cameBack());
});
