import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

// Bindings take what a platform sends for what its API says. Where it sent a
// number for a name, or an object for a date, the result would hold it.
//
// Each message type has a function of its own that looks, whose source is made of names of our own descriptors: a page
// has a thousand values.

/** Whether a value is what it should be. */
type Fits = (value: unknown) => boolean;

const compiled = new WeakMap<DescMessage, Fits>();

/**
 * Whether what a binding made of a platform's answer is the message that it
 * should be; fields may be absent.
 */
export function fits(desc: DescMessage, value: unknown): boolean {
  let look = compiled.get(desc);
  if (look === undefined) {
    look = compile(desc);
    compiled.set(desc, look);
  }
  return look(value);
}

function compile(desc: DescMessage): Fits {
  // Any JSON object is a Struct.
  const fields = desc.typeName === "google.protobuf.Struct" ? [] : desc.fields;
  const inside = fields.map(({ message }) => message && ((value: unknown) => fits(message, value)));
  const source = [
    "return (m) => {",
    'if (typeof m !== "object" || m === null || Array.isArray(m)) return false;',
    "let v;",
    ...fields.map((field, i) => `v = ${memberOf(field)}; if (v != null && !(${conditionOf(field, i)})) return false;`),
    "return true;",
    "};",
  ];
  return new Function("inside", source.join("\n"))(inside) as Fits;
}

/** The source of a field's value in the message m. */
function memberOf({ localName, oneof }: DescField): string {
  if (oneof === undefined) return `m.${localName}`;
  const chosen = `m.${oneof.localName}`;
  return `${chosen}?.case === ${JSON.stringify(localName)} ? ${chosen}.value : undefined`;
}

/** The source of whether v is the value of a field. */
function conditionOf(field: DescField, i: number): string {
  const one = field.message === undefined ? scalarConditionOf(field) : `inside[${i}](v)`;
  if (field.fieldKind === "list") return `Array.isArray(v) && v.every((v) => ${one})`;
  return field.fieldKind === "map" ? `typeof v === "object" && Object.values(v).every((v) => ${one})` : one;
}

function scalarConditionOf({ scalar }: DescField): string {
  switch (scalar) {
    case ScalarType.STRING:
      return 'typeof v === "string"';
    case ScalarType.BOOL:
      return 'typeof v === "boolean"';
    case ScalarType.BYTES:
      return "v instanceof Uint8Array";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return 'typeof v === "number"';
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return 'typeof v === "bigint" && BigInt.asIntN(64, v) === v';
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return 'typeof v === "bigint" && BigInt.asUintN(64, v) === v';
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return 'typeof v === "number" && v >>> 0 === v';
    // 32 bits with a sign, and enums.
    default:
      return 'typeof v === "number" && (v | 0) === v';
  }
}
