import { ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";

/** The refusal that an attempt ends in; fails the test where it does not. */
export async function refusal(attempt: Promise<unknown>): Promise<ConnectError> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}
