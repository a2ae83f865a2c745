import { once } from "node:events";
import { expect, test } from "vitest";
import { call } from "../support/mcp.js";
import { startProgram } from "../support/program.js";

test("with tracing on the program drains with exit code 0, and the last call's span is there at the next start", async () => {
  const first = await startProgram({ env: { TRACING: "on" }, keepData: true });
  try {
    const key = first.bootstrap.admin.api_key;
    await call(`${first.baseUrl}/mcp/aev`, key, "whoami");
    first.process.kill("SIGTERM");
    const [code] = (await once(first.process, "exit")) as [number];
    expect(code, first.output()).toBe(0);

    const second = await startProgram({ dataDir: first.dataDir });
    const url = `${second.baseUrl}/mcp/core`;
    const { traces } = await call<{ traces: { name: string }[] }>(url, key, "inspect_agent_traces", { page_size: 100 });
    await second.stop();
    expect(traces.map(({ name }) => name)).toContain("aev.v1.AccountService/Whoami");
  } finally {
    first.forget();
  }
});
