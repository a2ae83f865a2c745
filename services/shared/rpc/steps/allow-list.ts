import type { DescMethod } from "@bufbuild/protobuf";
import type { Caller, CallingAccount } from "../call.js";
import { permissionDenied } from "../errors.js";
import { readsOnly } from "../reads-only.js";

/** What administrators and our own processes alone call. */
const NEVER: ReadonlySet<string> = new Set(["admin", "internal", "delegated"]);

/**
 * Whether a service account can have an rpc on its list. It administers nothing, and changes no API keys: what it
 * made would outlive its own five minutes.
 */
export function isForAccounts(desc: DescMethod, needed: string): boolean {
  if (NEVER.has(needed)) return false;
  return needed !== "account" || readsOnly(desc);
}

/** Whether a service account calls this port itself, rather than a service of ours that calls on for it. */
export function callsItself({ account, scopes }: Caller): boolean {
  return account !== undefined && !scopes.has("delegated");
}

/**
 * The gate of service accounts, which every rpc passes but those that are open to everybody.
 *
 * @throws ConnectError permission_denied, where the rpc is not on the list.
 */
export function checkAllowList(
  caller: Caller,
  { name, methods }: CallingAccount,
  needed: string,
  desc: DescMethod,
): void {
  // What a service of ours calls on for it is the work of a call that has passed.
  if (!callsItself(caller)) return;
  const service = desc.parent.typeName;
  const rpc = `${service}/${desc.name}`;
  if (!isForAccounts(desc, needed))
    throw permissionDenied(`no service account may call ${rpc}: use the API key of a user`);
  if (methods.includes(rpc) || methods.includes(`${service}/*`)) return;
  throw permissionDenied(
    `${rpc} is not on the method list of the service account ${name}: ask an administrator to add it (service-accounts update)`,
  );
}
