import { expect, test } from "vitest";
import { isSameText } from "../../../../services/shared/credentials/same-text.js";

test.each([
  ["abc", "abc", true],
  ["abd", "abc", false],
  ["", "abc", false],
  ["abcd", "abc", false],
  // As many characters, and more bytes.
  ["ébc", "abc", false],
  ["ébc", "ébc", true],
])("%j is the wanted %j: %s", (given, wanted, is) => {
  expect(isSameText(given, wanted)).toBe(is);
});
