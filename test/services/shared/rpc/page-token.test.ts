import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ListAgentsRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { ListRunsRequestSchema } from "#proto/core/v1/run_service_pb.js";
import { ListSkillsRequestSchema } from "#proto/core/v1/skill_service_pb.js";
import { pageTokenOf, positionOf } from "../../../../services/shared/rpc/page-token.js";

const runs = create(ListRunsRequestSchema, { state: RunState.FAILED, newsSince: { seconds: 7n } });
const token = pageTokenOf("01", runs);

test("a token is good for its list, with pages of another size and arguments in another order", () => {
  const again = create(ListRunsRequestSchema, { newsSince: { seconds: 7n }, pageSize: 3, pageToken: token });
  again.state = RunState.FAILED;
  expect(positionOf(token, again)).toBe("01");
  expect(positionOf("", again)).toBeUndefined();
});

test.each([
  ["a state less", create(ListRunsRequestSchema, { newsSince: { seconds: 7n } })],
  ["another time", create(ListRunsRequestSchema, { state: RunState.FAILED, newsSince: { seconds: 8n } })],
  ["another list", create(ListAgentsRequestSchema)],
  ["a list by its name", "belongings"],
])("a token is refused for %s", (_, other) => {
  const refused = "page_token is not from this list: repeat the other arguments of the call that returned it";
  expect(() => positionOf(token, other)).toThrow(refused);
});

test("lists whose arguments are alike take no token of each other", () => {
  const agents = pageTokenOf("01", create(ListAgentsRequestSchema));
  expect(() => positionOf(agents, create(ListSkillsRequestSchema))).toThrow("page_token is not from this list");
});
