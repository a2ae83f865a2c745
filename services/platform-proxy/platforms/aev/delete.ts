import { Code, ConnectError } from "@connectrpc/connect";
import { unseen } from "../../lib/outcome.js";
import type { Platform } from "../../platform.js";

/**
 * Deletes an object and looks whether it is gone: the platform says that it is
 * of some that stay.
 *
 * @param path what is deleted.
 * @param readPath where it is read.
 * @returns whether it is gone. A caller with a grant alone loses it with the
 * object, and may then read as little as of an unknown one.
 */
export async function deleteAndCheck(platform: Platform, path: string, readPath: string): Promise<boolean> {
  await platform.rest<void>({ verb: "DELETE", path });
  return isGone(platform, readPath);
}

/** The error of a deletion that OpenAEV accepted and did not make. */
export const stillThere = (noun: string): ConnectError =>
  unseen(`OpenAEV accepted the deletion, but the ${noun} still exists; try again`);

/** Whether nothing is read at a path any more. */
export async function isGone(platform: Platform, readPath: string): Promise<boolean> {
  try {
    await platform.rest<unknown>({ verb: "GET", path: readPath });
    return false;
  } catch (error) {
    const isAbsent =
      error instanceof ConnectError && (error.code === Code.NotFound || error.code === Code.PermissionDenied);
    if (isAbsent) return true;
    throw error;
  }
}
