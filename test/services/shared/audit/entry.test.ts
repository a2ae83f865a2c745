import fc from "fast-check";
import { expect, test } from "vitest";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { entryOf } from "../../../../services/shared/audit/entry.js";

const traceIdOf = (traceparent: string | undefined): unknown =>
  entryOf(AgentService.method.updateAgent, {}, { traceparent }, undefined, { kind: AuditKind.WRITE, outcome: "ok" })
    .traceId;

test("a record has the trace id of its call, whatever the call says of its trace", () => {
  expect(traceIdOf(undefined)).toBe("");
  expect(traceIdOf(`00-${"a".repeat(32)}-${"b".repeat(16)}-01`)).toBe("a".repeat(32));
  const anyText = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom("-", "0", "a"), maxLength: 80 }));
  fc.assert(
    fc.property(anyText, (text) => {
      expect(traceIdOf(text)).toBe(text.split("-")[1]?.slice(0, 32) ?? "");
    }),
  );
});
