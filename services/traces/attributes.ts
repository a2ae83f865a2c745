import type { JsonValue, MessageShape } from "@bufbuild/protobuf";
import type { AnyValueSchema } from "#proto/opentelemetry/proto/common/v1/common_pb.js";

/** A value as it is kept: text as it came, anything structured as JSON. */
export interface Kept {
  readonly text: string;
  readonly json: boolean;
}

/** Turns a value of OTLP into what is kept of it, whole. */
export function keptOf(value: MessageShape<typeof AnyValueSchema> | undefined): Kept {
  const json = jsonOf(value);
  if (typeof json === "object" && json !== null) return { text: JSON.stringify(json), json: true };
  return { text: json === null ? "" : String(json), json: false };
}

/** Integers beyond 2^53 become their digits, bytes base64, numbers that JSON lacks their names. */
function jsonOf(any: MessageShape<typeof AnyValueSchema> | undefined): JsonValue {
  const { value } = any ?? { value: { case: undefined } };
  switch (value.case) {
    case undefined:
      return null;
    case "intValue":
      return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value.toString();
    case "doubleValue":
      return Number.isFinite(value.value) ? value.value : String(value.value);
    case "bytesValue":
      return Buffer.from(value.value).toString("base64");
    case "arrayValue":
      return value.value.values.map(jsonOf);
    case "kvlistValue":
      return Object.fromEntries(value.value.values.map((entry) => [entry.key, jsonOf(entry.value)]));
    default:
      return value.value;
  }
}
