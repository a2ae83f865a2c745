import type { Message } from "@bufbuild/protobuf";
import { invalidArgument } from "../shared/rpc/errors.js";

/** Members that say which object is meant rather than what to change of it. */
const NAMING: ReadonlySet<string> = new Set(["$typeName", "$unknown", "id", "etag"]);

/** @throws ConnectError invalid_argument for an update that would change nothing but the etag. */
export function checkChanges(request: Message): void {
  const given = Object.entries(request).some(
    ([name, value]) => !NAMING.has(name) && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  if (!given) throw invalidArgument("give at least one field to change");
}
