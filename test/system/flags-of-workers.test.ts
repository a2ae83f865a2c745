import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, startProgram } from "../support/program.js";

// Two façade workers in processes of their own serve as the flags of the process that starts them say.

let program: Program;
beforeAll(async () => {
  program = await startProgram({
    args: ["--workers", "2", "--allowed-hosts", "gateway.example.org", "--service-name", "Gateway"],
  });
});
afterAll(() => program?.stop());

/** One request on a connection of its own, which the kernel gives to either worker. */
function asked(host: string): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const body = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });
  const headers = {
    ...{ host, authorization: `Bearer ${program.bootstrap.analyst.api_key}`, "content-type": "application/json" },
    accept: "application/json, text/event-stream",
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${program.baseUrl}/mcp/cti`, { method: "POST", agent: false, headers }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (some: string) => {
        text += some;
      });
      reply.on("end", () => resolve({ status: reply.statusCode, text }));
    });
    sent.on("error", reject).end(body);
  });
}

test("each worker answers the hosts and under the name that flags give", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => asked("gateway.example.org")));
  expect([...new Set(answers.map(({ status }) => status))]).toEqual([200]);
  for (const { text } of answers) expect(text).toContain("Gateway");
  const others = await Promise.all(Array.from({ length: 40 }, () => asked("other.example.org")));
  for (const { status } of others) expect(status).toBeGreaterThanOrEqual(400);
});
