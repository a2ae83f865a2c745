import { expect, test } from "vitest";
import { Change } from "#proto/aev/v1/analysis_service_pb.js";
import { pairsOf } from "../../../../../services/platform-proxy/platforms/aev/compared.js";

const inject = (id: string, title: string, results: Record<string, string>, contract = "c") => ({
  inject_id: id,
  inject_title: title,
  inject_type: "openaev_implant",
  inject_injector_contract: {
    injector_contract_id: contract,
    injector_contract_labels: null,
    injector_contract_platforms: null,
  },
  inject_status: null,
  inject_expectation_results: Object.entries(results).map(([type, avgResult]) => ({ type, avgResult })),
});

test.each([
  [{ PREVENTION: "FAILED" }, { PREVENTION: "SUCCESS" }, Change.BETTER],
  [{ PREVENTION: "PARTIAL", DETECTION: "SUCCESS" }, { PREVENTION: "FAILED", DETECTION: "SUCCESS" }, Change.WORSE],
  [{ PREVENTION: "FAILED", DETECTION: "SUCCESS" }, { PREVENTION: "SUCCESS", DETECTION: "FAILED" }, Change.MIXED],
  [{ PREVENTION: "SUCCESS" }, { PREVENTION: "SUCCESS" }, Change.SAME],
  [{}, {}, Change.SAME],
  [{ PREVENTION: "SUCCESS" }, { PREVENTION: "PENDING" }, Change.UNDECIDED],
  [{ PREVENTION: "UNKNOWN" }, { PREVENTION: "FAILED" }, Change.UNDECIDED],
  [{ PREVENTION: "SUCCESS" }, { PREVENTION: "SUCCESS", DETECTION: "FAILED" }, Change.UNDECIDED],
  [{ PREVENTION: "FAILED", DETECTION: "PENDING" }, { PREVENTION: "SUCCESS", DETECTION: "FAILED" }, Change.BETTER],
])("%j before and %j after are %s", (before, after, change) => {
  expect(pairsOf([inject("1", "Step", before as never)], [inject("2", "Step", after as never)])).toMatchObject([
    { change },
  ]);
});

test("injects are matched by title and action, those of one name one to one, and the others are told of", () => {
  const pairs = pairsOf(
    [inject("1", "Step", {}), inject("2", "step", {}), inject("3", "Gone", {}), inject("4", "Other", {}, "a")],
    [inject("5", "Step", {}), inject("6", "Step", {}), inject("7", "Other", {}, "b")],
  );
  expect(pairs.map(({ before, after, change }) => [before?.inject_id, after?.inject_id, change])).toEqual([
    ["1", "5", Change.SAME],
    ["2", "6", Change.SAME],
    ["3", undefined, Change.ONLY_BEFORE],
    ["4", undefined, Change.ONLY_BEFORE],
    [undefined, "7", Change.ONLY_AFTER],
  ]);
});
