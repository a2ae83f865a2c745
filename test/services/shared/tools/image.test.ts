import { expect, test } from "vitest";
import { commentOf } from "../../../../services/shared/tools/comments.js";
import { readImage } from "../../../../services/shared/tools/image.js";

test("of the places in its files, the image of the API has those of comments, and not what every process would read in vain", () => {
  const locations = [...readImage().files].flatMap(({ proto }) => proto.sourceCodeInfo?.location ?? []);
  expect(locations.length).toBeGreaterThan(1_000);
  for (const { span, leadingComments, trailingComments, leadingDetachedComments } of locations) {
    // Clients of reflection refuse one without.
    expect([3, 4]).toContain(span.length);
    expect(leadingComments + trailingComments + leadingDetachedComments.join("")).not.toBe("");
  }
  const agents = readImage().getService("core.v1.AgentService");
  expect(commentOf(agents!.methods[0]!)).not.toBe("");
});
