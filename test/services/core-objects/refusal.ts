import { Code, ConnectError } from "@connectrpc/connect";

/** The code and the words that a call is refused with. */
export async function refusal(call: Promise<unknown>): Promise<[code: string, message: string]> {
  const error = ConnectError.from(
    await call.then(
      () => new Error("nothing was refused"),
      (reason: unknown) => reason,
    ),
  );
  return [Code[error.code] as string, error.rawMessage];
}
