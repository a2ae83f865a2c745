import { Code, ConnectError } from "@connectrpc/connect";
import { readSettings } from "./settings";
import { shared } from "./store";

/** Whether the service answers. */
export const reach = shared<"up" | "down">("up");

const AGAIN_MS = 2_000;

/** Whether an error says that the service, or the network, does not answer now. */
export function isOutage(error: unknown): boolean {
  const { code, cause } = ConnectError.from(error);
  return code === Code.Unavailable || cause instanceof TypeError;
}

/** Waits until the service answers again. @param then what is to be done when it does. */
export function awaitService(then: () => void): void {
  if (reach.get() === "down") return;
  reach.set("down");
  const look = (): void => {
    readSettings().then(
      () => {
        reach.set("up");
        then();
      },
      () => setTimeout(look, AGAIN_MS),
    );
  };
  setTimeout(look, AGAIN_MS);
}
