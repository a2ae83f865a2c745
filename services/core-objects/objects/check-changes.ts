import { invalidArgument } from "../../shared/rpc/errors.js";

/**
 * @param isAnySet whether an update gives anything to change.
 * @throws ConnectError invalid_argument for one that would change nothing but the etag.
 */
export function checkChanges(isAnySet: boolean): void {
  if (!isAnySet) throw invalidArgument("give at least one field to change");
}
