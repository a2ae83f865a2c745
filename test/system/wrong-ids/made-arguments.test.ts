import { createValidator } from "@bufbuild/protovalidate";
import { expect, test } from "vitest";
import { compileDecode } from "../../../services/shared/tools/codec/decode.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../services/shared/tools/tools.js";
import { idArgumentsOf } from "../../support/id-arguments.js";
import { createMakeArguments, UNKNOWN_ID } from "./made-arguments.js";

const TOOLS = readTools(readImage());
const validator = createValidator();
const make = createMakeArguments({
  tools: TOOLS,
  realId: async (_, sources) => (sources.length > 0 ? UNKNOWN_ID : undefined),
  tenants: { aev: UNKNOWN_ID, grc: UNKNOWN_ID },
});

/** Why a call with one unknown id is refused before anybody looks for it; undefined if it is not. */
async function refusalOf(tool: Tool, path: readonly string[]): Promise<string | undefined> {
  const args = await make(tool, path, path.at(-1)?.endsWith("trace_id") ? "0f".repeat(16) : UNKNOWN_ID);
  const { violations = [] } = validator.validate(tool.method.input, compileDecode(tool.method.input, true)(args));
  const [found] = violations.filter(({ ruleId }) => !/uuid|pattern|len/.test(ruleId));
  return found === undefined ? undefined : `${tool.server}/${tool.name} ${path.join(".")}: ${found.message}`;
}

test("the arguments that are made for each id break no rule, so that the id is looked for", async () => {
  const all = TOOLS.flatMap((tool) => idArgumentsOf(tool));
  expect(all.length).toBeGreaterThan(300);
  const refusals = (await Promise.all(all.map(({ tool, path }) => refusalOf(tool, path)))).filter(Boolean);
  const fix =
    'add what the call needs to ALSO in test/system/wrong-ids/made-arguments.ts: set_labels: { labels: ["x"] }';
  expect(refusals, fix).toEqual([]);
});
