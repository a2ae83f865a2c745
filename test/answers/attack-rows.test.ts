import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveTool } from "../../facade/catalogue/served-tool.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { type CtiAnswering, startCtiAnswering } from "../services/platform-proxy/platforms/cti/answering.js";
import { startCtiAt } from "../support/platforms/cti.js";
import type { Harness } from "../support/platforms/harness.js";
import { readNamed } from "../support/platforms/recording.js";
import { bytesOf, quantile, rowsOf, textOf } from "./measure.js";

// Most platforms hold all of MITRE ATT&CK, whose objects have more words than
// those of the built-in platform. The recording has 40 of each kind
// (recordings/cti-attack.LICENSE.txt).

const recorded = readNamed("cti-attack");
const TOOLS = readTools(readImage()).filter(({ server }) => server === "cti");

/** A list in which objects of ATT&CK come, with what OpenCTI answered to it. */
const LISTS: readonly (readonly [tool: string, args: object, answers: readonly string[]])[] = [
  ["list_attack_patterns", {}, ["kind Attack-Pattern"]],
  ["list_courses_of_action", {}, ["kind Course-Of-Action"]],
  ["list_intrusion_sets", {}, ["kind Intrusion-Set"]],
  ["list_malware", {}, ["kind Malware"]],
  ["list_tools", {}, ["kind Tool"]],
  ["list_campaigns", {}, ["kind Campaign"]],
  ["list_entity_ttps", { object_id: "set", page_size: 100 }, ["set", "techniques of the set"]],
];

interface List {
  readonly edges: readonly unknown[];
}

describe("of all of ATT&CK", () => {
  let platform: CtiAnswering;
  let harness: Harness;
  beforeAll(async () => {
    platform = await startCtiAnswering();
    platform.script([]);
    harness = await startCtiAt(platform.url);
  });
  afterAll(async () => {
    await harness.close();
    await platform.close();
  });

  /** The text of an answer whose lists have at most so many rows. */
  async function told(tool: string, args: object, answers: readonly string[], most = 1_000): Promise<string> {
    platform.script([]);
    for (const name of answers) {
      const { data } = recorded(name).answer as { data: Record<string, object> };
      for (const [field, value] of Object.entries(data))
        platform.give({
          [field]: "edges" in value ? { ...value, edges: (value as List).edges.slice(0, most) } : value,
        });
    }
    const stage = { ask: harness.call as never, close: async () => {} };
    return textOf(stage, serveTool(TOOLS.find(({ name }) => name === tool)!), args as never);
  }

  test.each(LISTS)(
    "rows and the first page of %s are as short as docs/answer-sizes.md says",
    async (tool, args, answers) => {
      const rows = rowsOf(serveTool(TOOLS.find(({ name }) => name === tool)!), await told(tool, args, answers)).map(
        bytesOf,
      );
      expect(rows).toHaveLength(40);
      expect(quantile(rows, 0.5)).toBeLessThanOrEqual(250);
      expect(quantile(rows, 0.95)).toBeLessThanOrEqual(500);
      expect(Buffer.byteLength(await told(tool, args, answers, 20))).toBeLessThan(10_240);
    },
  );

  test("a row is known by its name, and its description begins with what it is", async () => {
    const text = await told("list_intrusion_sets", {}, ["kind Intrusion-Set"]);
    for (const { id, name, description = "", markings } of JSON.parse(text).intrusion_sets) {
      expect([id.length, name.length > 0]).toEqual([36, true]);
      expect(description).not.toMatch(/https?:|\(Citation/);
      expect(markings).toBeUndefined();
    }
  });
});
