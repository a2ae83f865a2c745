import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import fc from "fast-check";

const DEPTH = 3;

/**
 * Any message of a type, set through and through: what JSON can say of it. An
 * enum's zero value means "not given", so it is left out where it could be told
 * from absence (lists, maps, optional fields and choices).
 */
export function anyMessage(desc: DescMessage, depth = DEPTH): fc.Arbitrary<Message> {
  if (desc.typeName === "google.protobuf.Timestamp") {
    return fc
      .record({
        seconds: fc.bigInt({ min: -62135596800n, max: 253402300799n }),
        nanos: fc.integer({ min: 0, max: 999_999_999 }),
      })
      .map((init) => create(desc, init as never));
  }
  if (desc.typeName === "google.protobuf.Duration") {
    return fc
      .record({
        seconds: fc.bigInt({ min: 0n, max: 315576000000n }),
        nanos: fc.integer({ min: 0, max: 999_999_999 }),
        negative: fc.boolean(),
      })
      .map(({ seconds, nanos, negative }) => {
        const sign = negative ? -1 : 1;
        return create(desc, { seconds: seconds * BigInt(sign), nanos: nanos === 0 ? 0 : nanos * sign } as never);
      });
  }
  const members = desc.members.flatMap((member) => {
    if (member.kind === "oneof") {
      const cases = member.fields.flatMap((field) =>
        isTooDeep(field, depth)
          ? []
          : [anyValue(field, depth, false).map((value) => ({ case: field.localName, value }) as object)],
      );
      return [fc.oneof(fc.constant({ case: undefined }), ...cases).map((value) => [member.localName, value] as const)];
    }
    if (member.fieldKind !== "list" && member.fieldKind !== "map" && isTooDeep(member, depth)) return [];
    const explicit = member.presence !== 2;
    const value = anyField(member, depth, explicit);
    return [(explicit ? fc.option(value, { nil: undefined }) : value).map((v) => [member.localName, v] as const)];
  });
  return fc.tuple(...members).map((entries) => create(desc, Object.fromEntries(entries)));
}

function isTooDeep(field: DescField, depth: number): boolean {
  return field.message !== undefined && depth === 0;
}

function anyField(field: DescField, depth: number, explicit: boolean): fc.Arbitrary<unknown> {
  if (field.fieldKind === "list") {
    return isTooDeep(field, depth) ? fc.constant([]) : fc.array(anyValue(field, depth, false), { maxLength: 3 });
  }
  if (field.fieldKind === "map") {
    if (isTooDeep(field, depth)) return fc.constant({});
    return fc.dictionary(anyKey(field.mapKey), anyValue(field, depth, false), { maxKeys: 3, noNullPrototype: true });
  }
  return anyValue(field, depth, !explicit);
}

function anyKey(type: ScalarType): fc.Arbitrary<string> {
  if (type === ScalarType.STRING) return fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__");
  if (type === ScalarType.BOOL) return fc.constantFrom("true", "false");
  return fc.nat().map(String);
}

/** @param zeroEnum whether an enum may be "not given" here. */
function anyValue(field: DescField, depth: number, zeroEnum: boolean): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) {
    const numbers = field.enum.values.map((value) => value.number).filter((number) => zeroEnum || number !== 0);
    return fc.oneof(fc.constantFrom(...numbers), fc.constant(4711));
  }
  if (field.scalar !== undefined) return anyScalar(field.scalar);
  const message = field.message as DescMessage;
  if (message.typeName === "google.protobuf.Struct") return anyStruct;
  return anyMessage(message, depth - 1);
}

/** Without the key __proto__, which the reader that we compare with takes for the prototype. */
const anyStruct = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }).map((value) => {
  const text = JSON.stringify(value);
  return JSON.parse(text, (key, one) => (key === "__proto__" ? undefined : one)) as JsonObject;
});

function anyScalar(type: ScalarType): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return fc.string({ unit: "binary" });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array();
    case ScalarType.DOUBLE:
      return fc.double().map(positiveZero);
    case ScalarType.FLOAT:
      return fc.float().map(positiveZero);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat({ max: 0xffffffff });
    default:
      return fc.integer();
  }
}

/** JSON has one zero. */
function positiveZero(value: number): number {
  return value === 0 ? 0 : value;
}
