import { invalidArgument } from "../../shared/rpc/errors.js";

/** Members that say which object is meant rather than what to change of it. */
const NAMING: readonly string[] = ["$typeName", "$unknown", "etag"];

/**
 * @param idMember the member that holds the object's id.
 * @throws ConnectError invalid_argument for an update that would change nothing but the etag.
 */
export function checkChanges(request: object, idMember: string): void {
  const given = Object.entries(request).some(
    ([name, value]) =>
      name !== idMember &&
      !NAMING.includes(name) &&
      value !== undefined &&
      !(Array.isArray(value) && value.length === 0),
  );
  if (!given) throw invalidArgument("give at least one field to change");
}
