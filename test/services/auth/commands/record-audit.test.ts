import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AuditKind, AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { wholeRecord } from "../../../../services/auth/commands/record-audit.js";

test("a record of which fields are left out is the message that is made of it", () => {
  const entries = [
    {},
    {
      kind: AuditKind.WRITE,
      userId: "u",
      action: "core.v1.AgentService/UpdateAgent",
      arguments: ["agent_id"],
      count: 1,
    },
    { kind: AuditKind.REFUSAL, outcome: "unauthenticated", targetEmail: "a@x.example", number: 3n },
  ];
  for (const entry of entries) expect({ ...wholeRecord(entry) }).toEqual({ ...create(AuditRecordSchema, entry) });
});
