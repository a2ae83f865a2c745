import { expect, test } from "vitest";
import { Buckets } from "../../../../services/shared/limits/buckets.js";

test("each holder has a bucket, which fills again", () => {
  let now = 0;
  const buckets = new Buckets({ burst: 2, perSecond: 1 }, 10, () => now);
  expect(["a", "a", "a", "b"].map((name) => buckets.take(name))).toEqual([0, 0, 1, 0]);
  now += 1_000;
  expect([buckets.take("a"), buckets.take("a")]).toEqual([0, 1]);
  expect(buckets.of("a").taken).toBe(2);
});

test("the holder that was seen longest ago is forgotten", () => {
  const buckets = new Buckets({ burst: 1, perSecond: 1 }, 2, () => 0);
  for (const name of ["a", "b", "a", "c"]) buckets.take(name);
  expect(["a", "b"].map((name) => buckets.take(name))).toEqual([1, 0]);
});
