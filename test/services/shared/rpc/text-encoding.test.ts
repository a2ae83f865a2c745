import { create, fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { getTextEncoding } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { GetAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import "../../../../services/shared/rpc/text-encoding.js";

test("a text is the same after a message was written and read, whatever it holds", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (agentId) => {
      const bytes = toBinary(GetAgentRequestSchema, create(GetAgentRequestSchema, { agentId }));
      expect(fromBinary(GetAgentRequestSchema, bytes).agentId).toBe(agentId);
    }),
  );
});

test("what is no text is refused, of JSON and of bytes", () => {
  const field = [0x0a, 0x02];
  expect(() => fromJson(GetAgentRequestSchema, { agentId: "half \ud83e of it" })).toThrow("invalid UTF8");
  expect(() => fromBinary(GetAgentRequestSchema, new Uint8Array([...field, 0xc3, 0x28]))).toThrow("not UTF-8");
});

test("whether a long text can be written is known at once", () => {
  const text = "e\u0301".repeat(1_000_000);
  const { checkUtf8 } = getTextEncoding();
  const begun = process.cpuUsage();
  for (let n = 0; n < 20; n++) expect(checkUtf8(text)).toBe(true);
  const { user, system } = process.cpuUsage(begun);
  // To escape it as a URL takes some 100 ms each time.
  expect((user + system) / 1_000).toBeLessThan(500);
});
