import { expect, test } from "vitest";
import { createUsageCounter } from "../../../../services/shared/credentials/usage.js";

test("uses that could not be written down are counted on", () => {
  const counter = createUsageCounter();
  const usage = counter.of("a");
  usage.uses = 3;
  usage.lastUsedAt = 30;
  const taken = counter.take(10);
  usage.uses++;
  usage.lastUsedAt = 40;
  counter.restore(taken);
  expect(counter.take(10)).toEqual([{ keyId: "a", uses: 4, lastUsedAt: 40 }]);
  expect(counter.take(10)).toEqual([]);
});

test("a take is bounded, and the next one has the rest", () => {
  const counter = createUsageCounter();
  for (const id of ["a", "b", "c"]) counter.of(id).uses = 1;
  expect(counter.take(2).map(({ keyId }) => keyId)).toEqual(["a", "b"]);
  expect(counter.take(2).map(({ keyId }) => keyId)).toEqual(["c"]);
});
