import type { MessageShape } from "@bufbuild/protobuf";
import type { HeaderToSendSchema } from "#proto/core/v1/custom_tool_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { quoted } from "../../../shared/rpc/quoted.js";
import { checkHeader } from "../../objects/header.js";
import type { HeaderRecord } from "./record.js";

const MAX_HEADERS = 20;

/**
 * The headers of a custom tool after some were put and some removed.
 *
 * @throws ConnectError invalid_argument for one that is not the tool's to set, is empty, or is not there to remove.
 */
export function headersAfter(
  current: readonly HeaderRecord[],
  put: readonly MessageShape<typeof HeaderToSendSchema>[],
  remove: readonly string[] = [],
): HeaderRecord[] {
  const headers = new Map(current.map((header) => [header.name.toLowerCase(), header]));
  for (const name of remove) {
    if (!headers.delete(name.toLowerCase()))
      throw invalidArgument(`the custom tool has no header ${quoted(name)} to remove`);
  }
  for (const { name, value, variableId } of put) {
    checkHeader(name, value);
    if (value.trim() === "" && variableId === "")
      throw invalidArgument(`the header ${name} is empty: give a value, a variable_id or both`);
    headers.set(name.toLowerCase(), { name, value, variable: variableId });
  }
  if (headers.size > MAX_HEADERS) throw invalidArgument(`a custom tool can have at most ${MAX_HEADERS} headers`);
  return [...headers.values()];
}
