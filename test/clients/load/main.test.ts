import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundled } from "../../support/bundled.js";
import { CERTIFICATE_FILE, serveTls } from "../../support/oauth/tls.js";
import { bodyOf, type Listening, listen, resultOf } from "./support/servers.js";

const KEY = "slp_key_that_no_report_has";
let server: Listening;
beforeAll(async () => {
  server = await listen(async (request, response) => {
    response.setHeader("content-type", "application/json").end(resultOf((await bodyOf(request)).id));
  });
});
afterAll(() => server.close());

async function load(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const program = await bundled(new URL("../../../clients/load/main.ts", import.meta.url));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...argv], { env: { ...process.env, LOAD_KEY: KEY, ...env } });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err += chunk));
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

const short = () => ["--url", server.url, "--rate", "50", "--seconds", "0.5", "--warmup", "0", "--eras", "2026-07-28"];

test("thresholds that hold end in 0, and both reports are written, without the key", async () => {
  const folder = mkdtempSync(join(tmpdir(), "load-"));
  const [json, html] = [join(folder, "report.json"), join(folder, "report.html")];
  const { code, out, err } = await load([...short(), "--threshold", "errors<1", "--json", json, "--html", html]);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/25 requests in .*: 25 good/);
  expect(out).toMatch(/Holds: errors is 0/);
  const report = JSON.parse(readFileSync(json, "utf8"));
  expect(report).toMatchObject({ version: 1, requests: { due: 25, good: 25, failed: 0 } });
  for (const text of [out, readFileSync(json, "utf8"), readFileSync(html, "utf8")]) expect(text).not.toContain(KEY);
});

test("a threshold that does not hold ends in 1, with a sentence", async () => {
  const { code, out } = await load([...short(), "--threshold", "p50<0.001ms", "--threshold", "errors<1%"]);
  expect(code).toBe(1);
  expect(out).toMatch(/Fails: p50 is .* ms; the threshold is p50<0\.001ms\./);
});

test("a server over TLS is measured if its certificate is known, by its name and by its address", async () => {
  let resumed = 0;
  const tls = await serveTls(async (request, response) => {
    if ((request.socket as TLSSocket).isSessionReused()) resumed++;
    response.setHeader("connection", "close");
    response.setHeader("content-type", "application/json").end(resultOf((await bodyOf(request)).id));
  });
  const over = (host: string) => [...short(), "--url", `https://${host}:${tls.port}/mcp`];
  const known = { NODE_EXTRA_CA_CERTS: CERTIFICATE_FILE };
  const [byName, byAddress, unknown] = await Promise.all([
    load(over("localhost"), known),
    load(over("127.0.0.1"), known),
    load(over("localhost")),
  ]);
  await tls.close();
  for (const { code, out, err } of [byName, byAddress]) {
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/25 requests in .*: 25 good/);
  }
  // Each connection after the first one that a server closes resumes its session.
  expect(resumed).toBeGreaterThan(20);
  expect(unknown.code).toBe(6);
  expect(unknown.err).toMatch(/failed with depth_zero_self_signed_cert/);
});

test("a wrong setting ends in 2, a server that does not answer in 6", async () => {
  const [wrong, { code, err }] = await Promise.all([load(["--rate", "5"]), load(["--url", "http://127.0.0.1:9/mcp"])]);
  expect([wrong.code, wrong.out]).toEqual([2, ""]);
  expect(wrong.err).toMatch(/--url is missing/);
  expect(code).toBe(6);
  expect(err).toMatch(/The run did not begin: initialize failed with econnrefused .*Start the server/);
});
