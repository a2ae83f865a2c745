import { readFileSync } from "node:fs";
import { ROOT_CONTEXT, trace as tracing } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Spans with long fields as OpenTelemetry's own SDK sends them, to the built program:
// what lists of them cost does not depend on how long they are, and each comes back
// as it was. A few here; SPANS=10000 for a gigabyte.

const SPANS = Number(process.env.SPANS ?? 200);
const FIELD_BYTES = 100_000;
/** Spans of an export: 10 MB. */
const BATCH = 100;
const SPANS_OF_A_TRACE = 20;
const MAX_LIST_BYTES = 256 << 10;
/** What the program may take for itself beside what it has at its start; the files of its store are the kernel's. */
const MAX_GROWTH_MB = 512;

let program: Program;
beforeAll(async () => {
  program = await startProgram();
});
afterAll(() => program?.stop());

const LINES = Array.from({ length: 3_000 }, (_, n) => `${n} запись 🛰 {"indicator":"198.51.100.${n % 256}"}\n`);
const BYTES_A_LINE = Buffer.byteLength(LINES.join("")) / LINES.length;

/** The field of a span, about as long as it is to be; no two are alike. */
const textOf = (n: number): string => {
  const first = n % 1_000;
  return `${n}\n${LINES.slice(first, first + FIELD_BYTES / BYTES_A_LINE).join("")}`;
};

/** Memory of the program in MB, without what it maps of its files. */
const memory = (): number => {
  const status = readFileSync(`/proc/${program.process.pid}/status`, "utf8");
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

async function everyPage<P extends { next_page_token?: string }>(get: (token: string) => Promise<P>): Promise<P[]> {
  const pages: P[] = [];
  for (let token: string | undefined = ""; token !== undefined; token = pages.at(-1)?.next_page_token)
    pages.push(await get(token));
  return pages;
}

test(`${SPANS} spans with fields of 100 KB are kept; lists stay short, and a field comes back byte for byte`, async () => {
  const key = program.bootstrap.admin.api_key;
  const url = `${program.baseUrl}/mcp/core`;
  const exporter = new OTLPTraceExporter({
    url: `${program.baseUrl}/v1/traces`,
    headers: { authorization: `Bearer ${key}` },
    timeoutMillis: 60_000,
  });
  const processor = new BatchSpanProcessor(exporter, {
    maxExportBatchSize: BATCH,
    maxQueueSize: 2 * BATCH,
    scheduledDelayMillis: 3_600_000,
    exportTimeoutMillis: 60_000,
  });
  const resource = resourceFromAttributes({ "service.name": "many-spans" });
  const tracer = new BasicTracerProvider({ resource, spanProcessors: [processor] }).getTracer("test");

  const [before, began] = [memory(), performance.now()];
  let most = before;
  let parent = ROOT_CONTEXT;
  for (let n = 0; n < SPANS; n++) {
    if (n % SPANS_OF_A_TRACE === 0) parent = ROOT_CONTEXT;
    const attributes = { "gen_ai.operation.name": "chat", "gen_ai.output.messages": textOf(n) };
    const span = tracer.startSpan(`chat ${n}`, { attributes }, parent);
    if (parent === ROOT_CONTEXT) parent = tracing.setSpan(ROOT_CONTEXT, span);
    span.end();
    if ((n + 1) % BATCH !== 0) continue;
    await processor.forceFlush();
    most = Math.max(most, memory());
  }
  await processor.shutdown();
  const sent = performance.now() - began;

  const lists: { ms: number; bytes: number }[] = [];
  const list = async (args: object) => {
    const asked = performance.now();
    const { text, body } = await post(url, key, "tools/call", { name: "inspect_agent_traces", arguments: args });
    lists.push({ ms: performance.now() - asked, bytes: text.length });
    if (body.result?.structuredContent === undefined) throw new Error(text);
    return body.result.structuredContent as {
      traces: { id: string; span_count: number }[];
      spans: { span_id: string; name: string; fields: { field: string; bytes: number; preview: string }[] }[];
      next_page_token?: string;
    };
  };
  const all = (asked: object) =>
    everyPage((page_token) => list({ ...asked, page_size: 100, ...(page_token !== "" && { page_token }) }));
  const found = (await all({ source: "many-spans" })).flatMap(({ traces }) => traces);
  expect(found).toHaveLength(SPANS / SPANS_OF_A_TRACE);
  expect(new Set(found.map(({ span_count }) => span_count))).toEqual(new Set([SPANS_OF_A_TRACE]));
  await all({ source: "many-spans", preview_chars: 500 });
  const last = found[0]!.id;
  const spans = (await all({ trace_id: last, preview_chars: 500 })).flatMap((page) => page.spans);
  expect(spans).toHaveLength(SPANS_OF_A_TRACE);

  for (const { span_id, name, fields } of [spans[0]!, spans.at(-1)!]) {
    const text = textOf(Number(name.split(" ")[1]));
    const output = fields.find(({ field }) => field === "output")!;
    expect(output.bytes).toBe(Buffer.byteLength(text));
    expect([...output.preview]).toEqual([...text].slice(0, 500));
    const pages: string[] = [];
    for (let page = 1, count = 1; page <= count; page++) {
      const about = { trace_id: last, span_id, field: "output", page };
      const read = await call<{ text: string; page_count: number }>(url, key, "get_trace_payload", about);
      pages.push(read.text);
      count = read.page_count;
    }
    expect(pages.length).toBe(Math.ceil(output.bytes / 16_384));
    expect(pages.join("") === text).toBe(true);
  }
  most = Math.max(most, memory());
  const longest = Math.max(...lists.map(({ bytes }) => bytes));
  const slowest = Math.max(...lists.map(({ ms }) => ms));
  process.stderr.write(
    `${SPANS} spans in ${(sent / 1_000).toFixed(1)} s; memory ${before.toFixed(0)} MB, at most ${most.toFixed(0)} MB; ` +
      `lists at most ${longest} bytes and ${slowest.toFixed(0)} ms\n`,
  );
  expect(longest).toBeLessThan(MAX_LIST_BYTES);
  expect(most - before).toBeLessThan(MAX_GROWTH_MB);
}, 240_000);
