import type { Caller } from "../rpc/call.js";

/** The name under which a caller's calls are counted: the id of the key, or of the user if the caller has no key. */
export function holderOf({ keyId, id }: Caller): string {
  return keyId === "" ? id : keyId;
}
