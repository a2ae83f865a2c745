import { invalidArgument } from "../../../shared/rpc/errors.js";
import { endOf } from "../../objects/secrets.js";
import type { Writer } from "../../objects/writer.js";
import type { Own } from "../../record.js";
import type { VariableRecord } from "./record.js";

/** The fields that hold a value. */
export function keptValue(value: string, secret: boolean, writer: Writer): Own<VariableRecord> {
  if (!secret) return { secret, value, sealed: "", ends_with: "" };
  return { secret, value: "", sealed: writer.seal(value, "sealed"), ends_with: endOf(value) };
}

/**
 * The fields that hold a value after a change; none where nothing of it changes.
 *
 * @throws ConnectError invalid_argument where a secret value would be shown.
 */
export function keptValueAfter(
  current: VariableRecord,
  { value, secret = current.secret }: { readonly value?: string | undefined; readonly secret?: boolean | undefined },
  writer: Writer,
): Partial<Own<VariableRecord>> {
  if (value === undefined && secret === current.secret) return {};
  if (value === undefined && current.secret)
    throw invalidArgument("a secret value is never shown: to make the variable non-secret, give a new value");
  return keptValue(value ?? current.value, secret, writer);
}
