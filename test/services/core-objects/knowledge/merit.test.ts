import { expect, test } from "vitest";
import { ExactVectors } from "../../../../services/core-objects/knowledge/apart/exact-vectors.js";
import { Merits } from "../../../../services/core-objects/knowledge/apart/merit.js";
import { randomOf } from "../../../support/random.js";

const DIMENSIONS = 64;
const random = randomOf(7);
/** One side of chance, the other the same for all: a model whose cosines all lie near each other, however high. */
const unit = (common: number): Float32Array => {
  const vector = new Float32Array(DIMENSIONS).map((_, d) => random() - 0.5 + (d === 0 ? common : 0));
  const length = Math.hypot(...vector);
  return vector.map((one) => one / length);
};
const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, d) => sum + x * b[d]!, 0);

function held(vectors: readonly Float32Array[]): ExactVectors {
  const exact = new ExactVectors(DIMENSIONS);
  const all = new Float32Array(vectors.length * DIMENSIONS);
  for (const [i, one] of vectors.entries()) all.set(one, i * DIMENSIONS);
  exact.put("d", 1, all);
  return exact;
}

test.each([0, 10])(
  "of a model that tells passages apart by chance nothing counts, and a passage that stands out does (%s)",
  (common) => {
    const passages = Array.from({ length: 300 }, () => unit(common));
    const exact = held(passages);
    const asked = unit(common);
    const merits = new Merits({ m: asked });
    const all = passages.map((one) => merits.of(exact, "m", cosine(asked, one)));
    // One of 740 stands three deviations above by chance.
    expect(all.filter((one) => one > 0).length).toBeLessThanOrEqual(2);
    expect(Math.max(...all)).toBeLessThan(0.3);
    expect(merits.of(exact, "m", 1)).toBeGreaterThan(0.8);
  },
);

test("a model that gives each passage the same vector merits nothing, and neither does one that was not asked", () => {
  const one = new Float32Array(DIMENSIONS).fill(1 / 8);
  const exact = held([one, one, one]);
  expect(new Merits({ m: one }).of(exact, "m", 1)).toBe(0);
  expect(new Merits({ m: one }).of(exact, "other", 1)).toBe(0);
});
