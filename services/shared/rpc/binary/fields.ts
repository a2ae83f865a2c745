import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** Whether a message, and all that it may hold, has only fields that are compiled: the library does the rest. */
export function isCompiled(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(desc)) return true;
  seen.add(desc);
  return desc.fields.every(
    (field) => isPlain(field) && (field.message === undefined || isCompiled(field.message, seen)),
  );
}

function isPlain(field: DescField): boolean {
  const { message, enum: words } = field;
  if ("delimitedEncoding" in field && field.delimitedEncoding) return false;
  if (message !== undefined && isWrapperDesc(message)) return false;
  if (words !== undefined && !words.open) return false;
  return !("longAsString" in field && field.longAsString);
}

/** Whether the values of a field are Struct messages on the wire, and JSON objects in a message. */
export function isJson({ message, parent }: DescField): boolean {
  return message?.typeName === "google.protobuf.Struct" && parent.typeName !== "google.protobuf.Value";
}

const METHOD = {
  [ScalarType.STRING]: "string",
  [ScalarType.BYTES]: "bytes",
  [ScalarType.BOOL]: "bool",
  [ScalarType.DOUBLE]: "double",
  [ScalarType.FLOAT]: "float",
  [ScalarType.INT32]: "int32",
  [ScalarType.UINT32]: "uint32",
  [ScalarType.SINT32]: "sint32",
  [ScalarType.FIXED32]: "fixed32",
  [ScalarType.SFIXED32]: "sfixed32",
  [ScalarType.INT64]: "int64",
  [ScalarType.UINT64]: "uint64",
  [ScalarType.SINT64]: "sint64",
  [ScalarType.FIXED64]: "fixed64",
  [ScalarType.SFIXED64]: "sfixed64",
} as const;

/** A method of writer and reader. */
export type Method = (typeof METHOD)[ScalarType];

/** The method for the values of a type. */
export function methodOf(scalar: ScalarType): Method {
  return METHOD[scalar];
}

/** The type of the values of a field that are no messages: an enum's are written as int32. */
export function scalarOf({ scalar }: DescField): ScalarType {
  return scalar ?? ScalarType.INT32;
}

/** How the values of a type are framed. */
export function wireOf(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}
