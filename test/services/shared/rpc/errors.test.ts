import { expect, test } from "vitest";
import { invalidArgument } from "../../../../services/shared/rpc/errors.js";

test("a sentence that quotes half a character can be sent", () => {
  const { rawMessage } = invalidArgument(`${"🦊".slice(0, 1)} is no number`);
  expect(rawMessage).toBe("\ufffd is no number");
  expect(encodeURIComponent(rawMessage)).toContain("%EF%BF%BD");
});
