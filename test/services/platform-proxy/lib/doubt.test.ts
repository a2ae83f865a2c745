import { expect, test } from "vitest";
import { doubtOf, withOutcome } from "../../../../services/platform-proxy/lib/doubt.js";
import { notFound, resourceExhausted, unavailable } from "../../../../services/shared/rpc/errors.js";

const said = (error: Parameters<typeof withOutcome>[0], changed = false) => withOutcome(error, changed).rawMessage;

test("a failure of a tool that changes says that nothing was, where its sentence does not", () => {
  expect(said(unavailable("it cannot be reached; try again"))).toBe(
    "it cannot be reached; nothing was changed, so it may be tried again",
  );
  expect(said(resourceExhausted("it is asked too often"))).toMatch(/^it is asked too often; nothing was changed/);
});

test("or that a part was, where the platform took one before", () => {
  expect(said(unavailable("it cannot be reached; try again"), true)).toMatch(/a part of the change was made before/);
  expect(said(unavailable("nothing was sent"), true)).toMatch(/a part of the change was made before/);
});

test("a sentence that says it already, and a refusal, stay as they are", () => {
  expect(said(unavailable(`it failed${doubtOf(false)}`))).toBe(`it failed${doubtOf(false)}`);
  expect(said(unavailable(`it failed${doubtOf(false)}`), true)).toBe(`it failed${doubtOf(false)}`);
  expect(said(unavailable("it is left alone; nothing was sent"))).toBe("it is left alone; nothing was sent");
  expect(said(notFound("there is none"), true)).toBe("there is none");
});
