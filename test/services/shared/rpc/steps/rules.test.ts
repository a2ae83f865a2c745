import { create } from "@bufbuild/protobuf";
import { ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, type ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { InjectService, ListInjectsRequestSchema } from "#proto/aev/v1/inject_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SetSimulationStatusRequestSchema, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { CreateSkillRequestSchema, SkillService } from "#proto/core/v1/skill_service_pb.js";
import { checkRules } from "../../../../../services/shared/rpc/steps/rules.js";
import { explain } from "../../../../../services/shared/tools/explain.js";

const { listInjects } = InjectService.method;
const { createSkill } = SkillService.method;
const ID = "00000000-0000-4000-8000-000000000000";

function refusalOf(request: object): ConnectError {
  try {
    checkRules(listInjects, create(ListInjectsRequestSchema, request));
  } catch (error) {
    return error as ConnectError;
  }
  throw new Error("nothing was refused");
}

test("a request that keeps the rules passes", () => {
  checkRules(listInjects, create(ListInjectsRequestSchema, { parent: { case: "scenarioId", value: ID } }));
});

test("a oneof that nothing was given of is told by the names that a caller writes", () => {
  const error = refusalOf({});
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.rawMessage).toBe("give exactly one of scenario_id, simulation_id");
  expect(explain(error)).toBe("give exactly one of scenario_id, simulation_id");
});

test("other broken rules are told by their path beside it", () => {
  const error = refusalOf({ tenantId: "x" });
  expect(explain(error)).toBe("tenant_id: must be a valid UUID\ngive exactly one of scenario_id, simulation_id");
  expect(error.findDetails(ViolationsSchema)[0]?.violations).toHaveLength(2);
});

test("a word that is none of those a field takes is told by those it takes, not by number", () => {
  const status = SimulationStatus.FINISHED;
  const request = create(SetSimulationStatusRequestSchema, { simulationId: ID, status });
  expect(() => checkRules(SimulationService.method.setSimulationStatus, request)).toThrow(
    "status: must be one of running, paused, canceled",
  );
});

test("of many values that break a rule the first are told, and how many more there are", () => {
  const sharing = Array.from({ length: 200 }, () => ({}));
  let many: ConnectError | undefined;
  try {
    checkRules(
      createSkill,
      create(CreateSkillRequestSchema, { name: "a", description: "d", instructions: "i", sharing }),
    );
  } catch (caught) {
    many = caught as ConnectError;
  }
  const lines = explain(many!)!.split("\n");
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)).toMatch(/^\d+ more values break a rule$/);
  expect(many!.rawMessage.endsWith(lines.at(-1)!)).toBe(true);
});

test("rules are told in words that a person would use", () => {
  const many = { labels: Array.from({ length: 51 }, (_, i) => `l${i}`) };
  const told = (request: object) => {
    try {
      checkRules(createSkill, create(CreateSkillRequestSchema, request));
    } catch (error) {
      return explain(error as ConnectError);
    }
    return undefined;
  };
  const right = { name: "a", description: "d", instructions: "i" };
  expect(told({ ...right, ...many })).toBe("labels: must have at most 50 items");
  expect(told({ ...right, labels: [""] })).toBe("labels[0]: must not be empty");
  expect(explain(refusalOf({ pageSize: 101, parent: { case: "scenarioId", value: ID } }))).toBe(
    "page_size: must be between 1 and 100",
  );
});
