import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { scope } from "#proto/auth/v1/access_pb.js";
import type { Caller } from "../call.js";
import { permissionDenied } from "../errors.js";
import type { Method } from "../method.js";
import type { Step } from "../running-call.js";
import { checkAllowList } from "./allow-list.js";

/**
 * The scope that callers of a method must hold.
 *
 * @throws Error where neither the method nor its rpc states one.
 */
export function scopeOf({ desc, scope: stated }: Method): string {
  const needed = stated ?? getOption(desc, scope);
  if (needed === "") throw new Error(`${desc.parent.typeName}.${desc.name} states no (auth.v1.scope)`);
  return needed;
}

/** Scopes of what services ask each other, as themselves or in the name of a caller. */
const OF_SERVICES: ReadonlySet<string> = new Set(["internal", "delegated"]);

/** Whether an rpc is for our own services alone: no public address forwards it, whatever the credential. */
export function isForServices(desc: DescMethod): boolean {
  return OF_SERVICES.has(getOption(desc, scope));
}

/** Refuses callers who do not hold the scope: see checkAccess. */
export function accessStep(needed: string, desc: DescMethod): Step {
  return ({ caller }) => checkAccess(caller, needed, desc);
}

/** @throws ConnectError permission_denied, where the caller does not hold the scope, or the rpc is not on a service account's list. */
export function checkAccess(caller: Caller, needed: string, desc: DescMethod): void {
  if (caller.account !== undefined) checkAllowList(caller, caller.account, needed, desc);
  if (!caller.scopes.has(needed))
    throw permissionDenied(`this call needs the scope ${needed}: use an API key that has it`);
}
