import type { ConnectError } from "@connectrpc/connect";

/** What follows a read's failure that may pass. */
export const AGAIN = "; try again";

const open = new WeakSet<ConnectError>();

/** Marks the failure of a write that the platform may have made all the same. */
export function leftOpen(error: ConnectError): ConnectError {
  open.add(error);
  return error;
}

/** Whether an error was marked as one that leaves a write's outcome open. */
export function isLeftOpen(error: unknown): boolean {
  return open.has(error as ConnectError);
}

/**
 * The failure of an exchange that may have reached the platform: a read's says
 * what to do, a write's is marked as open.
 */
export function brokenOff(
  read: boolean,
  raise: (said: string, cause?: unknown) => ConnectError,
  said: string,
  { cause, advice = AGAIN }: { readonly cause?: unknown; readonly advice?: string } = {},
): ConnectError {
  return read ? raise(`${said}${advice}`, cause) : leftOpen(raise(said, cause));
}
