import { create, isMessage, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { unreadMessage, unreadOf, writable } from "../../../../services/shared/rpc/unread.js";

const SCHEMA = ExportTraceServiceRequestSchema;

test("a message that nobody read has its bytes behind it, and goes to a socket as it came", () => {
  const message = fc.array(fc.string({ maxLength: 300 }), { maxLength: 5 });
  fc.assert(
    fc.property(message, (urls) => {
      const bytes = toBinary(SCHEMA, create(SCHEMA, { resourceSpans: urls.map((schemaUrl) => ({ schemaUrl })) }));
      const unread = unreadMessage(SCHEMA, { bytes, encoding: "protobuf" });
      expect(isMessage(unread, SCHEMA)).toBe(true);
      expect(unread.resourceSpans).toEqual([]);
      expect(unreadOf(unread)?.bytes).toBe(bytes);
      expect(Buffer.from(toBinary(SCHEMA, writable(SCHEMA, unread) as never))).toEqual(Buffer.from(bytes));
    }),
    { seed: 7 },
  );
});

test("one whose fields were read goes as it is; JSON goes to no socket", () => {
  const read = create(SCHEMA, {});
  expect(unreadOf(read)).toBeUndefined();
  expect(writable(SCHEMA, read)).toBe(read);
  const json = unreadMessage(SCHEMA, { bytes: Buffer.from("{}"), encoding: "json" });
  expect(() => writable(SCHEMA, json)).toThrow(expect.objectContaining({ code: Code.Unimplemented }));
});
