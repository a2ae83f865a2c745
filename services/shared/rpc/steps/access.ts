import { getOption } from "@bufbuild/protobuf";
import { scope } from "#proto/auth/v1/access_pb.js";
import type { Caller } from "../call.js";
import { permissionDenied } from "../errors.js";
import type { Method } from "../method.js";

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

/** @throws ConnectError permission_denied, where the caller does not hold the scope. */
export function checkAccess(caller: Caller, needed: string): void {
  if (!caller.scopes.has(needed)) throw permissionDenied(`this needs the scope ${needed}`);
}
