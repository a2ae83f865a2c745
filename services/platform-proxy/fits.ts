import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

// Bindings take what a platform sends for what its API says. Where it sent a
// number for a name, or an object for a date, the result would hold it.

/**
 * Whether what a binding made of a platform's answer is the message that it
 * should be; fields may be absent.
 */
export function fits(desc: DescMessage, value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  // Any JSON object is one.
  if (desc.typeName === "google.protobuf.Struct") return true;
  return desc.fields.every((field) => {
    const given = givenOf(field, value as Readonly<Record<string, unknown>>);
    return given === undefined || given === null || fieldFits(field, given);
  });
}

function givenOf(field: DescField, message: Readonly<Record<string, unknown>>): unknown {
  if (field.oneof === undefined) return message[field.localName];
  const chosen = message[field.oneof.localName] as { case?: unknown; value?: unknown } | undefined;
  return chosen?.case === field.localName ? chosen.value : undefined;
}

function fieldFits(field: DescField, value: unknown): boolean {
  if (field.fieldKind === "list") return Array.isArray(value) && value.every((item) => valueFits(field, item));
  if (field.fieldKind !== "map") return valueFits(field, value);
  return typeof value === "object" && Object.values(value as object).every((one) => valueFits(field, one));
}

function valueFits({ scalar, message }: DescField, value: unknown): boolean {
  if (message !== undefined) return fits(message, value);
  switch (scalar) {
    case ScalarType.STRING:
      return typeof value === "string";
    case ScalarType.BOOL:
      return typeof value === "boolean";
    case ScalarType.BYTES:
      return value instanceof Uint8Array;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return typeof value === "number";
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return typeof value === "bigint" && BigInt.asIntN(64, value) === value;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return typeof value === "bigint" && BigInt.asUintN(64, value) === value;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return typeof value === "number" && value >>> 0 === value;
    // 32 bits with a sign, and enums.
    default:
      return typeof value === "number" && (value | 0) === value;
  }
}
