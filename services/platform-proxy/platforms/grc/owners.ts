import type { Platform } from "../../platform.js";
import { readNamed, type Tenant } from "./tenancy.js";

/** The list of actors: users, teams and organizations, who own things. */
const ACTORS = "/api/actors/";

/**
 * The owner that a list is narrowed to, as the platform writes its id; undefined for any.
 *
 * @throws ConnectError not_found for one that the caller may not see.
 */
export async function ownerNamed(
  platform: Platform,
  id: string | undefined,
  tenant: Tenant,
): Promise<string | undefined> {
  return id && (await readNamed<{ readonly id: string }>(platform, ACTORS, id, "owner_id", tenant)).id;
}
