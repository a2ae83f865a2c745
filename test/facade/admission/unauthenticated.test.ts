import { expect, test } from "vitest";
import { createUnauthenticated } from "../../../facade/admission/unauthenticated.js";

test("the rate of an address is used up and grows again, and is that of no other address", () => {
  let now = 0;
  const rate = { burst: 2, perSecond: 1 };
  const unauthenticated = createUnauthenticated({ addressOf: ({ address }) => address, rate }, () => now);
  const postponed: string[] = [];
  const ask = (address: string): void =>
    unauthenticated.count({ headers: {}, address, postpone: () => postponed.push(address) });
  for (let n = 0; n < 3; n++) ask("a");
  ask("b");
  expect(postponed).toEqual(["a"]);
  now += 1_000;
  ask("a");
  ask("a");
  expect(postponed).toEqual(["a", "a"]);
});
