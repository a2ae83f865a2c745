import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** Messages that messages hold as JSON, or that hold others of which nothing is known. */
const DYNAMIC: ReadonlySet<string> = new Set(
  ["Struct", "Value", "ListValue", "Any"].map((name) => `google.protobuf.${name}`),
);

/** Whether a message, and all that it may hold, has only fields that are compiled: the library does the rest. */
export function isCompiled(desc: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(desc)) return true;
  seen.add(desc);
  return desc.fields.every(
    (field) => isPlain(field) && (field.message === undefined || isCompiled(field.message, seen)),
  );
}

function isPlain(field: DescField): boolean {
  const { fieldKind, message, enum: words } = field;
  if (fieldKind === "map" || ("delimitedEncoding" in field && field.delimitedEncoding)) return false;
  if (message !== undefined && (DYNAMIC.has(message.typeName) || isWrapperDesc(message))) return false;
  if (words !== undefined && !words.open) return false;
  if (field.scalar !== undefined && METHOD[field.scalar] === undefined) return false;
  return !("longAsString" in field && field.longAsString);
}

/** The method of writer and reader for the values of a type. No message that is exchanged often has others. */
const METHOD: Partial<Record<ScalarType, Method>> = {
  [ScalarType.STRING]: "string",
  [ScalarType.BOOL]: "bool",
  [ScalarType.DOUBLE]: "double",
  [ScalarType.INT32]: "int32",
  [ScalarType.UINT32]: "uint32",
  [ScalarType.INT64]: "int64",
  [ScalarType.UINT64]: "uint64",
  [ScalarType.BYTES]: "bytes",
};

type Method = "string" | "bool" | "double" | "int32" | "uint32" | "int64" | "uint64" | "bytes";

/** The method for the values of a compiled field that are no messages: an enum's are written as int32. */
export function methodOf({ scalar }: DescField): Method {
  return METHOD[scalar ?? ScalarType.INT32] as Method;
}
