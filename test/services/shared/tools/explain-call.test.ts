import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { notFound } from "../../../../services/shared/rpc/errors.js";
import { checkRules } from "../../../../services/shared/rpc/steps/rules.js";
import { compileDecode } from "../../../../services/shared/tools/codec/decode.js";
import { prepareExplainCall } from "../../../../services/shared/tools/explain-call.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";

const TOOLS = readTools(readImage());
const ID = "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f";
const OTHER = "1f1f1f1f-1f1f-4f1f-8f1f-1f1f1f1f1f1f";

interface Has {
  readonly lacks?: readonly string[];
  readonly leftOut?: Readonly<Record<string, string>>;
}

/** What a caller is told of a call's error, who lacks these tools. */
function said(full: string, args: JsonObject, error: ConnectError, { lacks = [], leftOut = {} }: Has = {}) {
  const [server, name] = full.split("/");
  const own = TOOLS.filter((one) => one.server === server);
  const tool = own.find((one) => one.name === name)!;
  return prepareExplainCall(own)(
    error,
    { tool, args },
    {
      has: (one) => !lacks.includes(one) && !(one in leftOut),
      toolsetLeftOut: (one) => leftOut[one],
    },
  );
}

/** The refusal of arguments that break a rule. */
function refusalOf(full: string, args: JsonObject): ConnectError {
  const { method } = TOOLS.find(({ server, name }) => `${server}/${name}` === full)!;
  try {
    checkRules(method, compileDecode(method.input)(args));
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error(`${full} takes ${JSON.stringify(args)}`);
}

test("what does not exist comes with the tool that returns such ids: of the argument that the sentence names", () => {
  const args = { object_id: ID, tenant_id: ID };
  expect(said("cti/get_entity", args, notFound("object_id: there is none"))).toBe(
    "object_id: there is none; search_all returns valid ids",
  );
  expect(
    said("cti/create_note", { object_ids: [ID] }, notFound(`refs.external_reference_ids: there is no ${ID}`)),
  ).toMatch(/; get_entity returns valid ids$/);
});

test("or of the arguments whose values it quotes, in either spelling and in lists", () => {
  const args = { scenarioId: ID, team_ids: [OTHER] };
  expect(said("aev/set_scenario_teams", args, notFound(`there is no ${OTHER} here`))).toMatch(/; list_teams returns/);
  expect(said("aev/set_scenario_teams", args, notFound(`there is no scenario ${ID}, sorry`))).toMatch(
    /; list_scenarios/,
  );
  expect(said("aev/get_inject", { inject_id: ID }, notFound(`there is no inject ${ID}`))).toMatch(
    /; list_injects or list_atomic_tests returns valid ids$/,
  );
  // A part of a word is not the value.
  expect(said("aev/set_scenario_teams", { scenario_id: ID, team_ids: ["here"] }, notFound("nothing is there"))).toMatch(
    /; list_scenarios or list_teams returns/,
  );
});

test("or else of all ids that were given, but for the tenant's", () => {
  const args = { tenant_id: OTHER, scenario_id: ID };
  expect(said("aev/get_scenario", args, notFound("it is gone"))).toBe("it is gone; list_scenarios returns valid ids");
  expect(said("aev/list_scenarios", {}, notFound("it is gone"))).toBe("it is gone");
});

test("a value that is no id comes with it too, in its own line", () => {
  const args = { tenant_id: "Helios", scenario_id: "Ransomware", name: "x" };
  expect(said("aev/update_scenario", args, refusalOf("aev/update_scenario", args))).toBe(
    "tenant_id: must be a valid UUID; whoami returns valid ids\n" +
      "scenario_id: must be a valid UUID; list_scenarios returns valid ids",
  );
  const typed = { scenario_id: 5 };
  const mistyped = new ConnectError("scenario_id: takes a string", Code.InvalidArgument);
  expect(said("aev/get_scenario", typed, mistyped)).toMatch(/; list_scenarios returns valid ids$/);
});

test("a list with too many ids is told only that", () => {
  const args = { scenario_id: ID, team_ids: Array.from({ length: 2_000 }, () => ID) };
  expect(said("aev/set_scenario_teams", args, refusalOf("aev/set_scenario_teams", args))).not.toMatch(/returns/);
});

test("names come from tools as ids do", () => {
  expect(said("aev/list_teams", { labels: ["gone"] }, notFound('labels: there is no label "gone"'))).toMatch(
    /; list_labels returns valid values$/,
  );
});

test("other errors, and sentences that name the tool, stay as they are", () => {
  for (const code of [Code.FailedPrecondition, Code.PermissionDenied, Code.Unavailable]) {
    expect(said("cti/get_entity", { object_id: ID }, new ConnectError(`object_id: not ${ID}`, code))).toBe(
      `object_id: not ${ID}`,
    );
  }
  const named = notFound(`there is no ${ID}; list_runs names them`);
  expect(said("core/get_run", { run_id: ID }, named)).toBe(`there is no ${ID}; list_runs names them`);
  expect(said("core/get_run", { run_id: ID }, new ConnectError("a fault", Code.Internal))).toBeUndefined();
});

test("no tool is named that the caller lacks, also by the service; the toolset is, if the URL alone leaves it out", () => {
  const named = notFound(`there is no ${ID}; list_runs names them`);
  const call = ["core/get_run", { run_id: ID }, named] as const;
  expect(said(...call, { lacks: ["list_runs"] })).toBe(`there is no ${ID}`);
  expect(said(...call, { leftOut: { list_runs: "run" } })).toBe(
    `there is no ${ID}; tools that this URL leaves out return valid ids: toolset run`,
  );
  const two = ["aev/get_inject", { inject_id: ID }, notFound(`there is no ${ID}`)] as const;
  expect(said(...two, { lacks: ["list_injects"] })).toMatch(/; list_atomic_tests returns valid ids$/);
});

test("a tool that writes is no source of ids", () => {
  const args = { observable_ids: [ID] };
  const text = said("cti/create_indicator", args, notFound(`observable_ids: there is no ${ID}`));
  expect(text).toMatch(/; list_observables returns valid ids$/);
});
