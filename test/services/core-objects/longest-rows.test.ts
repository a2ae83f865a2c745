import { type DescMethodUnary, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { serveTool } from "../../../facade/catalogue/served-tool.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { EVERY_KIND } from "./every-kind.js";
import { as, type Rig, startRig } from "./rig.js";
import { startStage } from "./runs/stage.js";

// A page of a list is read by a model, whatever people wrote into the objects: rows of the longest names, descriptions
// and labels that the API takes stay short, too.

/** 20 rows in which everything is as long as it may be stay below what clients cut, too. */
const ROW_BYTES = 700;
const TOOLS = new Map(
  readTools(readImage()).flatMap((tool) => (tool.server === "core" ? [[tool.name, serveTool(tool)] as const] : [])),
);

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

async function call(name: string, args: object): Promise<string> {
  const { tool, decode } = TOOLS.get(name)!;
  const method = tool.method as DescMethodUnary;
  const answer = await rig.dispatch.unary(method, decode(args as never), as("alice"));
  return toJsonString(method.output, answer as never, { useProtoFieldName: true });
}

test.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))(
  "a row of a %s",
  async (noun, { snake, plural, needs, nameOf }) => {
    const { properties = {} } = TOOLS.get(`create_${snake}`)!.tool.listing.inputSchema;
    const longest = (name: string): number => properties[name]?.maxLength as number;
    const labels = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(60, "l"));
    const named = nameOf("a".repeat(longest("name"))).slice(0, longest("name"));
    await call(`create_${snake}`, { ...needs, name: named, description: "d".repeat(longest("description")), labels });
    const page = JSON.parse(await call(`list_${plural}`, { page_size: 1, origin: "user" }));
    expect([noun, page[plural][0].labels]).toEqual([noun, labels.slice(0, 2)]);
    expect(JSON.stringify(page[plural][0]).length).toBeLessThan(ROW_BYTES);
  },
);

test("a row of a run has the beginning of its question, and get_run all of it", async () => {
  const stage = await startStage();
  try {
    const question = "Which of them? ".repeat(100);
    stage.script.reply = () => ({ call: "ask_user", args: { question } });
    await stage.integrate({});
    const { id } = await stage.trigger(await stage.agent({}));
    await stage.rested(id);
    const { runs } = await stage.rig.dispatch.unary(RunService.method.listRuns, {}, as("alice"));
    expect(runs[0]?.question).toBe(`${question.slice(0, 199)}…`);
    const { run } = await stage.rig.dispatch.unary(RunService.method.getRun, { runId: id }, as("alice"));
    expect(run?.question?.trim()).toBe(question.trim());
  } finally {
    await stage.close();
  }
});
