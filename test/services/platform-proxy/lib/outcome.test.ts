import { expect, test } from "vitest";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { brokenOff, isLeftOpen, passing, passingOf, unseen } from "../../../../services/platform-proxy/lib/outcome.js";
import { notFound, resourceExhausted, unavailable } from "../../../../services/shared/rpc/errors.js";
import { outcomeOf, settled, withOutcome, withOutcomeSaid } from "../../../../services/shared/rpc/write-outcome.js";

test("an exchange that breaks off leaves a write open, and a read says to try again", () => {
  const write = brokenOff(false, unavailable, "it failed");
  expect([write.rawMessage, isLeftOpen(write)]).toEqual(["it failed", true]);
  const read = brokenOff(true, unavailable, "it failed");
  expect([read.rawMessage, isLeftOpen(read)]).toEqual(["it failed; try again", false]);
});

test.each([
  [Outcome.UNCHANGED, "it failed; nothing was changed, so try again"],
  [Outcome.PARTLY, "it failed; at least a part of the change was made: read before you try again"],
  [
    Outcome.UNKNOWN,
    "it failed; the change may or may not have been made: read before you try again, and repeat only what is missing",
  ],
] as const)("a failure has its outcome %s as a field and in words, once", (outcome, words) => {
  const once = withOutcome(unavailable("it failed"), outcome, "try again");
  expect([outcomeOf(once), once.rawMessage]).toEqual([outcome, words]);
  expect(withOutcome(once, Outcome.UNKNOWN)).toBe(once);
});

test("a refusal changed nothing and says no more; after a part of the change it says that", () => {
  const refused = settled(notFound("there is none"));
  expect([outcomeOf(refused), refused.rawMessage]).toEqual([Outcome.UNCHANGED, "there is none"]);
  expect(withOutcome(notFound("there is none"), Outcome.PARTLY).rawMessage).toMatch(/at least a part/);
});

test("words that only look like an outcome do not count", () => {
  const failed = settled(unavailable("it is not known; nothing was changed"));
  expect(outcomeOf(failed)).toBe(Outcome.UNKNOWN);
});

test("what to do about a failure that passes stands in its sentence and beside it", () => {
  const error = passing(resourceExhausted, "it is asked too often", "try again in a minute");
  expect(error.rawMessage).toBe("it is asked too often; try again in a minute");
  expect(passingOf(error)).toEqual({ said: "it is asked too often", advice: "try again in a minute" });
  expect(passingOf(unavailable("it is asked too often; try again in a minute"))).toBeUndefined();
});

test("a sentence that says what became of a change stays as it is", () => {
  const said = withOutcomeSaid(unavailable("a was written, b was not"), Outcome.PARTLY);
  expect([outcomeOf(said), said.rawMessage]).toEqual([Outcome.PARTLY, "a was written, b was not"]);
  expect(withOutcome(said, Outcome.UNKNOWN)).toBe(said);
  expect(outcomeOf(unseen("it is still there"))).toBe(Outcome.UNKNOWN);
});
