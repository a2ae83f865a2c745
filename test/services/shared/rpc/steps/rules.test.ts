import { create } from "@bufbuild/protobuf";
import { ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, type ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { InjectService, SearchInjectsRequestSchema } from "#proto/aev/v1/inject_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { SetSimulationStatusRequestSchema, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { checkRules } from "../../../../../services/shared/rpc/steps/rules.js";
import { explain } from "../../../../../services/shared/tools/explain.js";

const { searchInjects } = InjectService.method;
const ID = "00000000-0000-4000-8000-000000000000";

function refusalOf(request: object): ConnectError {
  try {
    checkRules(searchInjects, create(SearchInjectsRequestSchema, request));
  } catch (error) {
    return error as ConnectError;
  }
  throw new Error("nothing was refused");
}

test("a request that keeps the rules passes", () => {
  checkRules(searchInjects, create(SearchInjectsRequestSchema, { parent: { case: "scenarioId", value: ID } }));
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
