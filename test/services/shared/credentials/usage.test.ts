import { expect, test } from "vitest";
import { createUsageCounter } from "../../../../services/shared/credentials/usage.js";

test("uses that could not be written down are counted on", () => {
  const counter = createUsageCounter();
  const usage = counter.of("a");
  for (const now of [10, 20, 30]) counter.use(usage, now);
  const taken = counter.take(10);
  counter.use(usage, 40);
  counter.restore(taken);
  expect(counter.take(10)).toEqual([{ keyId: "a", uses: 4, lastUsedAt: 40, client: "", connectedAt: 0 }]);
  expect(counter.take(10)).toEqual([]);
});

test("a take is bounded, and the next one has the rest", () => {
  const counter = createUsageCounter();
  for (const id of ["a", "b", "c"]) counter.use(counter.of(id), 1);
  expect(counter.take(2).map(({ keyId }) => keyId)).toEqual(["a", "b"]);
  expect(counter.take(2).map(({ keyId }) => keyId)).toEqual(["c"]);
});

test("a client that connected is reported once, and of several the last", () => {
  const counter = createUsageCounter();
  const usage = counter.of("a");
  counter.use(usage, 10);
  counter.connect(usage, "first 1", 10);
  const taken = counter.take(10);
  expect(taken).toMatchObject([{ uses: 1, client: "first 1", connectedAt: 10 }]);
  expect(counter.take(10)).toEqual([]);
  // The report of the first fails, and another client has connected since.
  counter.connect(usage, "second 2", 20);
  counter.restore(taken);
  expect(counter.take(10)).toMatchObject([{ uses: 1, client: "second 2", connectedAt: 20 }]);
});

test("the name of a client comes with the next report, also if its request was counted in the one before", () => {
  const counter = createUsageCounter();
  const usage = counter.of("a");
  counter.use(usage, 5);
  expect(counter.take(10)).toMatchObject([{ uses: 1, client: "" }]);
  counter.connect(usage, "late 1", 10);
  expect(counter.take(10)).toMatchObject([{ uses: 0, client: "late 1" }]);
});

test("a key of which two counts are kept, as by two access tokens of a grant, is one entry", () => {
  const counter = createUsageCounter();
  const [one, other] = [counter.of("a"), counter.of("a")];
  counter.use(one, 1);
  counter.use(other, 2);
  counter.connect(other, "c 1", 2);
  expect(counter.take(10)).toEqual([{ keyId: "a", uses: 2, lastUsedAt: 2, client: "c 1", connectedAt: 2 }]);
  counter.use(other, 3);
  counter.use(one, 4);
  counter.use(other, 5);
  expect(counter.take(10)).toMatchObject([{ uses: 3, lastUsedAt: 5 }]);
});

test("who writes uses is called once when there are any, and again after a take", () => {
  let begun = 0;
  const counter = createUsageCounter(() => begun++);
  expect(begun).toBe(0);
  for (const id of ["a", "b", "a"]) counter.use(counter.of(id), 1);
  expect(begun).toBe(1);
  const taken = counter.take(10);
  counter.restore(taken);
  expect(begun).toBe(2);
});
