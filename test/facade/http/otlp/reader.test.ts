import { gzipSync } from "node:zlib";
import { toBinary } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { createExportReader, type Written } from "../../../../facade/http/otlp/reader.js";
import { exportOf } from "../../../services/traces/spans.js";

// Long exports are unpacked, cut and made protobuf in a thread.

const spans = (count: number, characters: number) =>
  exportOf(
    "reader",
    Array.from({ length: count }, () => ({ attributes: { a: "x".repeat(characters) } })),
  );
const binary = (count: number, characters: number) =>
  toBinary(ExportTraceServiceRequestSchema, spans(count, characters));
const json = (count: number) =>
  Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: Array(count).fill({ name: "x" }) }] }] }));

async function* inPieces(bytes: Uint8Array, size = 50_000): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}
const how = (more: Partial<Written> = {}): Written => ({
  ...{ encoding: "protobuf", isPacked: false, keep: () => true },
  ...more,
});
const refusalOf = (reading: Promise<unknown>) =>
  reading.then(
    () => undefined,
    (error: unknown) => error as ConnectError,
  );

test("bodies that come at the same time, piece by piece, are told apart", async () => {
  const reader = createExportReader();
  const bodies = Array.from({ length: 6 }, (_, n) => binary(300 + n, 1_000));
  const read = await Promise.all(
    bodies.map((body, n) =>
      n % 2 === 0
        ? reader.read(inPieces(body), how())
        : reader.read(inPieces(gzipSync(body), 500), how({ isPacked: true })),
    ),
  );
  for (const [n, { bytes, left }] of read.entries()) {
    expect(left).toBe(0);
    expect(Buffer.from(bytes).equals(bodies[n]!)).toBe(true);
  }
});

test("memory is counted for what is kept: a packed body's is that of what it unpacks to", async () => {
  const body = binary(3_000, 1_000);
  for (const isPacked of [false, true]) {
    const sent = isPacked ? gzipSync(body) : body;
    // The edge has counted what came.
    let [counted, most] = [sent.length, 0];
    const keep = (bytes: number): boolean => {
      counted += bytes;
      most = Math.max(most, counted);
      return true;
    };
    await createExportReader().read(inPieces(sent), how({ isPacked, keep }));
    expect(counted).toBe(body.length);
    expect(most).toBeLessThanOrEqual(body.length + sent.length);
  }
});

test("a bomb is left as soon as it has unpacked to more than is read, and others are read meanwhile", async () => {
  const reader = createExportReader();
  const bomb = gzipSync(Buffer.concat([Buffer.from([0x7a, 0x80, 0x80, 0xc0, 0x20]), Buffer.alloc(65 << 20)]));
  const [refused, read] = await Promise.all([
    refusalOf(reader.read(inPieces(bomb), how({ isPacked: true }))),
    reader.read(inPieces(binary(300, 1_000)), how()),
  ]);
  expect(refused?.code).toBe(Code.ResourceExhausted);
  expect(read.left).toBe(0);
});

test("an export that ends the thread is refused with its reason; the next one is read", async () => {
  const reader = createExportReader({ megabytes: 16, ms: 60_000 });
  const refused = await refusalOf(reader.read(inPieces(json(45_000)), how({ encoding: "json" })));
  expect(refused?.code).toBe(Code.InvalidArgument);
  expect(refused?.rawMessage).toBe("the export takes too much memory to read: send fewer spans at once");
  expect((await reader.read(inPieces(binary(10, 1_000)), how())).left).toBe(0);

  const slow = createExportReader({ megabytes: 512, ms: 1 });
  const late = await refusalOf(slow.read(inPieces(json(45_000)), how({ encoding: "json" })));
  expect(late?.rawMessage).toBe("the export takes more than 0.001 seconds to read: send fewer spans at once");
});
