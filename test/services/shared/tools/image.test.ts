import { expect, test } from "vitest";
import { commentOf } from "../../../../services/shared/tools/comments.js";
import { readImage } from "../../../../services/shared/tools/image.js";

test("the image of the API has the comments and no places, which every process would read at its start", () => {
  const locations = [...readImage().files].flatMap(({ proto }) => proto.sourceCodeInfo?.location ?? []);
  expect(locations.length).toBeGreaterThan(1_000);
  for (const { span, leadingComments, trailingComments, leadingDetachedComments } of locations) {
    expect(span).toEqual([]);
    expect(leadingComments + trailingComments + leadingDetachedComments.join("")).not.toBe("");
  }
  const agents = readImage().getService("core.v1.AgentService");
  expect(commentOf(agents!.methods[0]!)).not.toBe("");
});
