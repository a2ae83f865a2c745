import { expect, test } from "vitest";
import { bodyOf, listen, resultOf, runLoad } from "./support/servers.js";

const RATE = 200;
const SECONDS = 2;
const STALL_MS = 500;
/** The server stalls this long after the first request of the run. */
const STALL_AFTER_MS = 600;

test("a server that stalls is measured by every request that was due in the meantime", async () => {
  let began = 0;
  const server = await listen(async (request, response) => {
    const { id } = await bodyOf(request);
    if (id < 1_000_000 && began === 0) began = performance.now();
    const into = performance.now() - began - STALL_AFTER_MS;
    const isStalled = began > 0 && into >= 0 && into < STALL_MS;
    setTimeout(
      () => response.writeHead(200, { "content-type": "application/json" }).end(resultOf(id)),
      isStalled ? STALL_MS - into : 0,
    );
  });
  try {
    // A closed loop over these connections would see four slow answers of 400.
    const report = await runLoad([
      ...["--url", server.url, "--rate", String(RATE), "--seconds", String(SECONDS), "--warmup", "0"],
      ...["--connections", "4", "--eras", "2026-07-28", "--mix", "call"],
    ]);
    // Every request of the schedule is a sample, also those that were due in the stall.
    expect(report.requests).toEqual({ due: RATE * SECONDS, good: RATE * SECONDS, failed: 0 });
    // A quarter of the requests was due in the stall; they waited from 500 ms down to 0.
    expect(report.latencyMs.p90).toBeGreaterThan(STALL_MS * 0.5);
    expect(report.latencyMs.p95).toBeGreaterThan(STALL_MS * 0.7);
    expect(report.latencyMs.max).toBeGreaterThan(STALL_MS * 0.9);
    // All but those that were under way waited for a connection, and the report says so.
    expect(report.waiting.requests).toBeGreaterThan(RATE * (STALL_MS / 1_000) * 0.7);
    expect(report.notes.join("\n")).toMatch(/waited for a free connection/);
  } finally {
    await server.close();
  }
});
