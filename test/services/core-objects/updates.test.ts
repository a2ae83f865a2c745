import type { DescMethodUnary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveTool } from "../../../facade/catalogue/served-tool.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { EVERY_KIND } from "./every-kind.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

// What every kind answers to an update that gives nothing, comes too late, or is of what is not there.

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const TOOLS = new Map(
  readTools(readImage()).flatMap((tool) => (tool.server === "core" ? [[tool.name, serveTool(tool)] as const] : [])),
);

function call(name: string, args: object): Promise<Record<string, { readonly id: string; readonly etag: string }>> {
  const { tool, decode } = TOOLS.get(name)!;
  return rig.dispatch.unary(tool.method as DescMethodUnary, decode(args as never), as("alice")) as never;
}

test.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))(
  "a %s",
  async (noun, { snake, plural, needs, nameOf, reads }) => {
    const made = Object.values(await call(`create_${snake}`, { name: nameOf("one"), description: "d", ...needs }));
    const { id, etag } = made.find((one) => typeof one === "object" && "etag" in one)!;
    const about = { [`${snake}_id`]: id };
    const changing = [`update_${snake}`, `delete_${snake}`];
    const given = { description: "Other." };

    for (const nothing of [about, { ...about, etag }])
      expect(await refusal(call(`update_${snake}`, nothing))).toEqual([
        "InvalidArgument",
        "give at least one field to change",
      ]);
    const said = Object.values(await call(`update_${snake}`, { ...about, ...given, etag }));
    const { etag: after } = said.find((one) => typeof one === "object" && "etag" in one)!;
    expect(after).not.toBe(etag);
    for (const tool of changing)
      expect(await refusal(call(tool, { ...about, ...(tool.startsWith("update") && given), etag }))).toEqual([
        "Aborted",
        `this ${noun} changed after you read it: its etag is now ${after}. Read it again, then repeat the call`,
      ]);
    const gone = { [`${snake}_id`]: "nobody" };
    for (const tool of changing)
      expect(await refusal(call(tool, { ...gone, ...(tool.startsWith("update") && given) }))).toEqual([
        "NotFound",
        `no ${noun} that you can see has the id nobody; list_${plural} returns the ids`,
      ]);
    for (const { tool, args } of reads) {
      const [code, text] = await refusal(call(tool, args("nobody")));
      expect([tool, code]).toEqual([tool, "NotFound"]);
      expect(text).toMatch(new RegExp(`nobody; list_${plural} returns `));
    }
  },
);
