import type { Authenticated, Incoming } from "./call.js";
import type { Chain } from "./chain.js";
import type { Method } from "./method.js";
import { checkAccess, scopeOf } from "./steps/access.js";
import { NOBODY, PUBLIC } from "./steps/caller.js";
import { recordOf } from "./steps/record.js";

/**
 * Decides from what came before the message who calls, and whether they may.
 *
 * @throws ConnectError unauthenticated, permission_denied or unavailable; it is on record then.
 */
export type Admit = (incoming: Incoming) => Authenticated | Promise<Authenticated>;

const ANYBODY: Authenticated = { caller: NOBODY, assertion: "" };

/**
 * Runs the first steps of a method's chain on their own, for adapters whose
 * callers come before their messages: nobody else's message is read. The chain
 * takes the answer as it is (`Incoming.admitted`).
 */
export function admission(method: Method, steps: Chain): Admit {
  const { authenticator } = steps;
  const needed = scopeOf(method);
  if (needed === PUBLIC) return () => ANYBODY;
  const record = recordOf(method.desc, needed, steps);
  return (incoming) => {
    const startedAt = performance.now();
    let known: Authenticated | undefined;
    const enter = (who: Authenticated): Authenticated => {
      known = who;
      checkAccess(who.caller, needed, method.desc);
      return who;
    };
    const refuse = (error: unknown): never => {
      void record(undefined, incoming, known?.caller, startedAt, error);
      throw error;
    };
    try {
      const who = authenticator.authenticate(incoming.credential);
      return who instanceof Promise ? who.then(enter).catch(refuse) : enter(who);
    } catch (error) {
      return refuse(error);
    }
  };
}
