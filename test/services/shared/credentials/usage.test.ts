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
  expect(counter.take(10)).toEqual([{ keyId: "a", uses: 4, lastUsedAt: 40, client: "", connectedAt: 0 }]);
  expect(counter.take(10)).toEqual([]);
});

test("a take is bounded, and the next one has the rest", () => {
  const counter = createUsageCounter();
  for (const id of ["a", "b", "c"]) counter.of(id).uses = 1;
  expect(counter.take(2).map(({ keyId }) => keyId)).toEqual(["a", "b"]);
  expect(counter.take(2).map(({ keyId }) => keyId)).toEqual(["c"]);
});

test("a client that connected is reported once, and of several the last", () => {
  const counter = createUsageCounter();
  const usage = counter.of("a");
  Object.assign(usage, { uses: 1, client: "first 1", connectedAt: 10 });
  const taken = counter.take(10);
  expect(taken).toMatchObject([{ uses: 1, client: "first 1", connectedAt: 10 }]);
  expect(counter.take(10)).toEqual([]);
  // The report of the first fails, and another client has connected since.
  Object.assign(usage, { client: "second 2", connectedAt: 20 });
  counter.restore(taken);
  expect(counter.take(10)).toMatchObject([{ uses: 1, client: "second 2", connectedAt: 20 }]);
});

test("the name of a client comes with the next report, also if its request was counted in the one before", () => {
  const counter = createUsageCounter();
  const usage = counter.of("a");
  usage.uses = 1;
  expect(counter.take(10)).toMatchObject([{ uses: 1, client: "" }]);
  Object.assign(usage, { client: "late 1", connectedAt: 10 });
  expect(counter.take(10)).toMatchObject([{ uses: 0, client: "late 1" }]);
});
