import { once } from "node:events";
import { Agent } from "undici";
import { expect, test } from "vitest";
import { call } from "../support/mcp.js";
import { startProgram } from "../support/program.js";

test("kill -9 while 5,000 writes are acknowledged loses none of them", async () => {
  const env = { CALLS_PER_SECOND: "100000", CALL_BURST: "100000" };
  const first = await startProgram({ env, keepData: true });
  const { api_key: key } = first.bootstrap.analyst;
  const { origin } = new URL(first.baseUrl);
  const agent = new Agent({ connections: 64 });
  const acknowledged: string[] = [];

  async function create(n: number): Promise<void> {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: n,
      method: "tools/call",
      params: { name: "create_agent", arguments: { name: `Agent ${n}`, instructions: "Watch." } },
    });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await agent.request({ origin, path: "/mcp/core", method: "POST", headers, body });
    const { result } = (await reply.body.json()) as {
      result: { isError?: boolean; structuredContent: { agent: { id: string } } };
    };
    if (result.isError) throw new Error(JSON.stringify(result));
    acknowledged.push(result.structuredContent.agent.id);
  }

  let next = 0;
  const writers = Array.from({ length: 64 }, async () => {
    try {
      for (;;) await create(next++);
    } catch (error) {
      // Only the kill may end a writer.
      if (acknowledged.length < 5_000) throw error;
    }
  });
  const killed = once(first.process, "exit");
  await expect.poll(() => acknowledged.length, { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(5_000);
  first.process.kill("SIGKILL");
  await killed;
  await Promise.all(writers);
  await agent.destroy();

  const again = await startProgram({ env, dataDir: first.dataDir });
  try {
    const there = new Set<string>();
    let pageToken: string | undefined;
    do {
      const args = { page_size: 100, ...(pageToken !== undefined && { page_token: pageToken }) };
      const page = await call<{ agents: { id: string }[]; next_page_token?: string }>(
        `${again.baseUrl}/mcp/core`,
        key,
        "list_agents",
        args,
      );
      for (const { id } of page.agents) there.add(id);
      pageToken = page.next_page_token;
    } while (pageToken !== undefined && pageToken !== "");
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(5_000);
  } finally {
    await again.stop();
    first.forget();
  }
});
