import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ListAgentsResponseSchema } from "#proto/core/v1/agent_service_pb.js";
import { ListSkillsResponseSchema } from "#proto/core/v1/skill_service_pb.js";
import { sharedMessageIn } from "../../../../../services/shared/rpc/lane/shared-replies.js";
import { anyMessage } from "../../../../facade/support/arbitrary-message.js";

test("bytes that came before are the message that was made of them then, and no other", () => {
  fc.assert(
    fc.property(anyMessage(ListAgentsResponseSchema), (message) => {
      const bytes = Buffer.from(toBinary(ListAgentsResponseSchema, message as never));
      const first = sharedMessageIn(ListAgentsResponseSchema, bytes);
      // Bytes, because NaN is not equal to itself.
      expect(Buffer.from(toBinary(ListAgentsResponseSchema, first))).toEqual(bytes);
      expect(sharedMessageIn(ListAgentsResponseSchema, Buffer.from(bytes))).toBe(first);
      expect(Object.isFrozen(first)).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("the same bytes are other messages as another type", () => {
  const agents = create(ListAgentsResponseSchema, { nextPageToken: "next" });
  const bytes = Buffer.from(toBinary(ListAgentsResponseSchema, agents));
  const skills = create(ListSkillsResponseSchema, { nextPageToken: "next" });
  expect(Buffer.from(toBinary(ListSkillsResponseSchema, skills))).toEqual(bytes);
  for (let turns = 0; turns < 2; turns++) {
    expect(sharedMessageIn(ListAgentsResponseSchema, bytes)).toEqual(agents);
    expect(sharedMessageIn(ListSkillsResponseSchema, bytes)).toEqual(skills);
  }
});

test("a message that is not one is refused each time", () => {
  for (let turns = 0; turns < 2; turns++)
    expect(() => sharedMessageIn(ListAgentsResponseSchema, Buffer.from([0xff, 0xff]))).toThrow(Error);
});
