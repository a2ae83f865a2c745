import { createHash } from "node:crypto";

/** The id of a delegation's record: what stands for it has 256 random bits, and is not kept itself. */
export function delegationId(delegation: string): string {
  return createHash("sha256").update(delegation).digest("base64url");
}
