import type { ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { leftOpen } from "../../../../../services/platform-proxy/lib/outcome.js";
import { inSteps } from "../../../../../services/platform-proxy/platforms/cti/in-steps.js";
import { permissionDenied, unavailable } from "../../../../../services/shared/rpc/errors.js";
import { outcomeOf } from "../../../../../services/shared/rpc/write-outcome.js";

const failing = async (error: Error, made: () => Promise<string | undefined>): Promise<ConnectError> =>
  inSteps(() => Promise.reject(error), made).then(
    () => expect.unreachable(),
    (thrown) => thrown as ConnectError,
  );

test("what the platform makes is the answer, and nothing is looked for", async () => {
  const made = () => expect.unreachable();
  expect(await inSteps(async () => "made", made)).toBe("made");
});

test("a refusal after a step says what the step made, and that it was a part", async () => {
  const error = await failing(permissionDenied("you may not"), async () => "the first half exists");
  expect(error.rawMessage).toBe("you may not; a part of the change was made: the first half exists");
  expect(outcomeOf(error)).toBe(Outcome.PARTLY);
});

test("a refusal before any step stays as it is", async () => {
  const refusal = permissionDenied("you may not");
  expect(await failing(refusal, async () => undefined)).toBe(refusal);
});

test("if nobody can look, the outcome is not known", async () => {
  const error = await failing(permissionDenied("you may not"), () => Promise.reject(unavailable("gone")));
  expect(outcomeOf(error)).toBe(Outcome.UNKNOWN);
  const lost = leftOpen(unavailable("no answer"));
  expect(await failing(lost, async () => "the first half exists")).toBe(lost);
});
