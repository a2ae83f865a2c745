import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, startProgram } from "../support/program.js";

// What the whole service counts, its workers in processes of their own included, on a port that is not that of clients.

let program: Program;
let metricsUrl: string;
beforeAll(async () => {
  program = await startProgram({
    args: ["--workers", "2"],
    env: { METRICS_PORT: "0", SLOW_CALL_MS: "300", SANDBOX_LATENCY_MS: "400" },
    readyWithin: 240_000,
  });
  metricsUrl = /Metrics\s+(http:\S+)/.exec(program.output())?.[1] ?? "";
}, 300_000);
afterAll(() => program?.stop());

const text = async (): Promise<string> => (await fetch(metricsUrl)).text();

/** The sum of the series of a metric whose labels have these values. */
function sumOf(exposition: string, name: string, labels: Readonly<Record<string, string>>): number {
  return exposition
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`))
    .filter((line) => Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

async function called(server: string, method: string, params: object, key = program.bootstrap.analyst.api_key) {
  const answer = await fetch(`${program.baseUrl}/mcp/${server}`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${key}`, "content-type": "application/json", "user-agent": "cursor/1.0" },
      // A connection of its own, which the kernel gives to either worker.
      ...{ accept: "application/json, text/event-stream", connection: "close" },
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return { status: answer.status, text: await answer.text() };
}

test("calls of all workers are counted by server, tool, client and outcome, and refusals by their reason", async () => {
  for (let i = 0; i < 12; i++) await called("cti", "tools/call", { name: "whoami", arguments: {} });
  await called("cti", "tools/call", { name: "no_such_tool_of_ours", arguments: {} });
  const args = { object_id: "00000000-0000-4000-8000-000000000000", labels: ["a-name-of-ours"] };
  await called("cti", "tools/call", { name: "add_labels", arguments: args });
  for (let i = 0; i < 3; i++) expect((await called("cti", "tools/list", {}, "slp_bad")).status).toBe(401);
  const counted = await text();

  const whoami = { server: "cti", mcp_method_name: "tools/call", gen_ai_tool_name: "whoami", error_type: "" };
  expect(sumOf(counted, "mcp_server_operation_duration_seconds_count", whoami)).toBe(12);
  expect(sumOf(counted, "mcp_server_operation_duration_seconds_bucket", { ...whoami, le: "+Inf" })).toBe(12);
  const legacy = { server: "cti", era: "legacy", client: "cursor" };
  expect(sumOf(counted, "sallyport_mcp_requests_total", { ...legacy, outcome: "ok" })).toBe(12);
  expect(sumOf(counted, "sallyport_mcp_requests_total", { ...legacy, outcome: "-32602" })).toBe(1);
  expect(sumOf(counted, "sallyport_mcp_requests_total", { ...legacy, outcome: "tool_error" })).toBe(1);
  expect(counted).not.toContain("no_such_tool_of_ours");
  expect(sumOf(counted, "sallyport_authentications_total", { outcome: "admitted" })).toBe(14);
  expect(sumOf(counted, "sallyport_authentications_total", { outcome: "malformed" })).toBe(3);
  expect(sumOf(counted, "sallyport_refused_requests_total", { reason: "invalid_token" })).toBe(3);
  expect(sumOf(counted, "sallyport_platform_request_duration_seconds_count", { server: "cti" })).toBeGreaterThan(0);
  expect(sumOf(counted, "sallyport_ready", {})).toBe(3);
  expect(sumOf(counted, "sallyport_workers", {})).toBe(2);
  for (const process of ["main", "worker-0", "worker-1"])
    expect(sumOf(counted, "process_resident_memory_bytes", { process })).toBeGreaterThan(1e6);
});

test("a slow call is logged with its trace, its tool and where its time went, and so is the platform's part", async () => {
  const lines = () =>
    program
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const slowCall = () => lines().find(({ msg, tool }) => msg === "a slow tool call" && tool === "add_labels");
  // Lines of a worker come through the process that started it.
  await expect.poll(slowCall).toBeDefined();
  const slow = slowCall();
  expect(slow).toMatchObject({ server: "cti", trace: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(slow?.ms).toBeGreaterThanOrEqual(300);
  expect((slow?.service_ms as number) / (slow?.ms as number)).toBeGreaterThan(0.5);
  const platform = lines().find(({ msg, trace }) => msg === "a slow platform request" && trace === slow?.trace);
  expect(platform).toMatchObject({ server: "cti", rpc: "AddLabels", outcome: "2xx" });
  expect(JSON.stringify([slow, platform])).not.toMatch(/00000000-0000-4000|a-name-of-ours/);
});

test("the port of clients has no metrics", async () => {
  const answer = await fetch(`${program.baseUrl}/metrics`, {
    headers: { authorization: `Bearer ${program.bootstrap.admin.api_key}` },
  });
  expect(answer.status).toBe(404);
  expect(await answer.text()).not.toContain("sallyport_");
});

test("a worker that starts again counts from zero, and the others go on", async () => {
  const before = sumOf(await text(), "sallyport_authentications_total", { process: "worker-1" });
  const pidOf = (scrape: string) => /process_pid\{process="worker-0"\} (\d+)/.exec(scrape)?.[1];
  const pid = pidOf(await text());
  process.kill(Number(pid), "SIGKILL");
  // A quick restart is never seen as one worker less.
  const replaced = async () => ![undefined, pid].includes(pidOf(await text()));
  await expect.poll(replaced, { timeout: 60_000 }).toBe(true);
  await expect.poll(async () => sumOf(await text(), "sallyport_workers", {}), { timeout: 60_000 }).toBe(2);
  const after = await text();
  expect(sumOf(after, "sallyport_authentications_total", { process: "worker-1" })).toBe(before);
  expect(sumOf(after, "sallyport_authentications_total", { process: "worker-0" })).toBe(0);
  expect(sumOf(after, "process_resident_memory_bytes", { process: "worker-0" })).toBeGreaterThan(1e6);
}, 120_000);
