// CPU time of a request, the kernel's for it included: tools/list and a
// tools/call that does nothing, through the façade with its checks on either
// edge, against µWebSockets.js alone with the same bytes. All in one run, by
// turns, because machines differ and change.

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { EDGE_NAMES } from "../../facade/config.js";
import { legacy, modern } from "../facade/support/client.js";
import { load, once, requestBytes } from "./load.js";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const RUN_MS = Number(process.env.BENCH_MS ?? 1_000);
const SERVER = fileURLToPath(new URL("server.js", import.meta.url));

interface Variant {
  readonly name: string;
  readonly request: Buffer;
  readonly server: ChildProcess;
  readonly port: number;
  /** CPU microseconds a request, of each round. */
  readonly cpu: number[];
  rate: number;
  rss: number;
}

function ask<T>(server: ChildProcess, what: object): Promise<T> {
  return new Promise((resolve) => {
    server.once("message", (answer) => resolve(answer as T));
    server.send(what);
  });
}

async function start(what: object): Promise<{ readonly server: ChildProcess; readonly port: number }> {
  const server = fork(SERVER);
  server.once("exit", (code) => {
    if (code !== 0) throw new Error("a server under measurement ended");
  });
  return { server, port: (await ask<{ port: number }>(server, what)).port };
}

const part = (i: number) => ({
  id: `part-${i}`,
  severity: "low",
  seen_at: "2026-07-28T09:30:00Z",
  sensor: "a sensor with a name",
});
const sighting = {
  id: "sighting-1",
  severity: "high",
  seen_at: "2026-07-28T09:30:00Z",
  confidence: 0.75,
  count: 12,
  by_sensor: { north: "low", south: "high" },
  ports: [80, 443, 8443],
  analyst: { name: "An Analyst" },
  parts: Array.from({ length: 6 }, (_, i) => part(i)),
};
const call = { name: "echo_sighting", arguments: { word: "hi", sighting } };
const small = { name: "echo_sighting", arguments: { word: "hi" } };
const shapes = [
  { name: "tools/list 2026-07-28", message: modern("tools/list") },
  { name: "tools/list 2025-11-25", message: legacy("tools/list") },
  { name: "tools/call of a word, 2026-07-28", message: modern("tools/call", small) },
  { name: "tools/call of a word, 2025-11-25", message: legacy("tools/call", small) },
  { name: "tools/call of 7 objects, 2026-07-28", message: modern("tools/call", call) },
  { name: "tools/call of 7 objects, 2025-11-25", message: legacy("tools/call", call) },
];

const facades = await Promise.all(EDGE_NAMES.map(async (edge) => ({ edge, ...(await start({ facade: true, edge })) })));
/** Rows of one shape: that of µWebSockets.js alone, and one for each edge. */
const ROWS = 1 + facades.length;
const variants: Variant[] = [];
for (const { name, message } of shapes) {
  const headers = { authorization: "Bearer good", ...message.headers };
  const request = requestBytes("/mcp/cti", headers, JSON.stringify(message.body));
  const answer = await once((facades[0] as { port: number }).port, request);
  const bare = await start({ bare: answer.toString("base64") });
  const size = `${request.length} B in, ${answer.length} B out`;
  variants.push({ name: `${name}, bare (${size})`, request, ...bare, cpu: [], rate: 0, rss: 0 });
  for (const { edge, ...facade } of facades) {
    variants.push({ name: `${name}, façade on ${edge}`, request, ...facade, cpu: [], rate: 0, rss: 0 });
  }
}
for (const { port, request } of variants) await load(port, request, RUN_MS);
for (let round = 0; round < ROUNDS; round++) {
  for (const variant of variants) {
    const before = await ask<{ cpu: number }>(variant.server, { usage: true });
    const answers = await load(variant.port, variant.request, RUN_MS);
    const after = await ask<{ cpu: number; rss: number }>(variant.server, { usage: true });
    variant.cpu.push((after.cpu - before.cpu) / answers);
    variant.rate = Math.max(variant.rate, (answers * 1_000) / RUN_MS);
    variant.rss = after.rss;
  }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;
for (let i = 0; i < variants.length; i += ROWS) {
  const floor = median((variants[i] as Variant).cpu);
  for (const { name, cpu, rate, rss } of variants.slice(i, i + ROWS)) {
    const own = median(cpu);
    const figures = [
      `${own.toFixed(1)} µs CPU`,
      `${(own / floor).toFixed(2)} × bare`,
      `${Math.min(...cpu).toFixed(1)}–${Math.max(...cpu).toFixed(1)}`,
      `${Math.round(rate)}/s`,
      `${Math.round(rss / 1e6)} MB`,
    ];
    process.stdout.write(`${name.padEnd(72)}${figures.join("  ")}\n`);
  }
}
for (const { server } of variants) if (server.connected) server.disconnect();
