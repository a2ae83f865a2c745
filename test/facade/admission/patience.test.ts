import { expect, test } from "vitest";
import { createPatience } from "../../../facade/admission/patience.js";

test("patience with an address ends and grows again, and is nobody else's", () => {
  let now = 0;
  const patience = createPatience({ addressOf: ({ address }) => address, rate: { burst: 2, perSecond: 1 } }, () => now);
  const postponed: string[] = [];
  const ask = (address: string): void =>
    patience.with({ headers: {}, address, postpone: () => postponed.push(address) });
  for (let n = 0; n < 3; n++) ask("a");
  ask("b");
  expect(postponed).toEqual(["a"]);
  now += 1_000;
  ask("a");
  ask("a");
  expect(postponed).toEqual(["a", "a"]);
});
