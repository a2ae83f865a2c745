import type { Authenticated, Authenticator, Caller } from "../call.js";
import type { RunningCall, Step } from "../running-call.js";

/** The scope of rpcs that are open to everybody, whom nobody asks who they are. */
export const PUBLIC = "public";

/** Who calls an rpc that is open to everybody. */
export const NOBODY: Caller = {
  id: "",
  email: "",
  name: "",
  admin: false,
  groups: [],
  scopes: new Set([PUBLIC]),
  keyId: "",
  service: false,
};

/** Finds out who calls; everybody may if the scope that is needed is public. */
export function callerStep(needed: string, authenticator: Authenticator): Step {
  if (needed === PUBLIC) {
    return (call) => {
      call.caller = NOBODY;
    };
  }
  return (call) => {
    const who = call.admitted ?? authenticator.authenticate(call.credential);
    if (who instanceof Promise) return who.then((one) => identify(call, one));
    return identify(call, who);
  };
}

function identify(call: RunningCall, { caller, assertion }: Authenticated): void {
  call.caller = caller;
  call.assertion = assertion;
}
