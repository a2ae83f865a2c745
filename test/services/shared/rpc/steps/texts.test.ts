import { create } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { CreateSkillRequestSchema, SkillService } from "#proto/core/v1/skill_service_pb.js";
import { MAX_TEXT } from "../../../../../services/shared/rpc/bounds.js";
import { checkTextsOf } from "../../../../../services/shared/rpc/steps/texts.js";

const { createSkill, deleteSkill } = SkillService.method;
const FILES = 100;

function skillOf(characters: number) {
  const text = "a".repeat(Math.floor(characters / FILES));
  const files = Array.from({ length: FILES }, (_, n) => ({ path: `${n}`.padStart(3, "0"), text }));
  return create(CreateSkillRequestSchema, { files });
}

test("texts that are too long together are refused before their rules are looked at, in words", () => {
  const check = checkTextsOf(createSkill)!;
  check(skillOf(MAX_TEXT - 5_000));
  let refused: ConnectError | undefined;
  try {
    check(skillOf(MAX_TEXT));
  } catch (error) {
    refused = error as ConnectError;
  }
  expect(refused?.code).toBe(Code.ResourceExhausted);
  expect(refused?.rawMessage).toBe(
    `all texts of a request together may have at most ${MAX_TEXT} bytes in UTF-8: send less at a time`,
  );
});

test("a skill's files and instructions fit, as much as each may be", () => {
  const request = skillOf(2 << 20);
  checkTextsOf(createSkill)!({ ...request, instructions: "a".repeat(256 << 10) } as typeof request);
});

test("bytes count, not characters", () => {
  const check = checkTextsOf(createSkill)!;
  const umlauts = (bytes: number) => ({ ...skillOf(0), instructions: "ü".repeat(bytes / 2) });
  check(umlauts(MAX_TEXT - 5_000));
  expect(() => check(umlauts(MAX_TEXT + 2))).toThrow(/at most/);
});

test("requests that cannot hold so much are not looked at, nor what services send each other", () => {
  const unreadable = {
    get skillId(): never {
      throw new Error("looked at");
    },
  };
  checkTextsOf(deleteSkill)!(unreadable as never);
  expect(checkTextsOf(AuditService.method.recordAudit)).toBeUndefined();
});
