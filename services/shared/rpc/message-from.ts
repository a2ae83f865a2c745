import {
  create,
  type DescField,
  type DescMessage,
  isMessage,
  type MessageInitShape,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { isCompiled, isJson } from "./binary/fields.js";

// The library's create() adds one field of a message after the other, which copies the message each time it grows. Here
// each message type has a function of its own with one literal, whose source is made of names of our own descriptors.

/** Makes a message of what is given of it. */
type Make = (init: object) => object;
/** What a field of a message is made of what is given of it. */
type Convert = (value: unknown) => unknown;

/** An empty message, as `create` of the library makes it. */
export function emptyMessage<D extends DescMessage>(desc: D): MessageShape<D> {
  return makerOf(desc)(NOTHING) as MessageShape<D>;
}

/** The message of what is given of it, as `create` of the library makes it. */
export function messageFrom<D extends DescMessage>(desc: D, init: MessageInitShape<D> | undefined): MessageShape<D> {
  return (isMessage(init, desc) ? init : makerOf(desc)((init as object | undefined) ?? NOTHING)) as MessageShape<D>;
}

/** No bytes: one for all messages, because nobody can change it. */
export const EMPTY = new Uint8Array(0);

/** The source of an empty message of proto3: a literal, in which EMPTY stands for {@link EMPTY}. */
export function emptySource(desc: DescMessage): string {
  if (!isProto3(desc)) throw new Error(`${desc.typeName} is not of proto3`);
  const members = Object.entries(create(desc)).map(([name, value]) => {
    if (value instanceof Uint8Array) return `${name}: EMPTY`;
    if (typeof value === "bigint") return `${name}: ${value}n`;
    if (Array.isArray(value)) return `${name}: []`;
    if (typeof value === "object") return `${name}: ${"case" in (value as object) ? "{ case: undefined }" : "{}"}`;
    return `${name}: ${JSON.stringify(value)}`;
  });
  return `{ ${members.join(", ")} }`;
}

const NOTHING = Object.freeze({});
const PROTO3 = 999;
const makers = new WeakMap<DescMessage, Make>();

function isProto3({ file }: DescMessage): boolean {
  return file.edition === PROTO3;
}

function makerOf(desc: DescMessage): Make {
  const known = makers.get(desc);
  if (known !== undefined) return known;
  const make =
    isProto3(desc) && isCompiled(desc) ? compiledMakerOf(desc) : (init: object) => create(desc, init as never);
  makers.set(desc, make);
  return make;
}

function compiledMakerOf(desc: DescMessage): Make {
  const converts: Record<string, Convert> = {};
  const stores = desc.members.map((member) => {
    const { localName: name } = member;
    const convert = member.kind === "oneof" ? oneofOf(member.fields) : convertOf(member);
    if (convert !== undefined) converts[name] = convert;
    return `v = init.${name}; if (v != null) m.${name} = ${convert === undefined ? "v" : `converts.${name}(v)`};`;
  });
  const source = ["return (init) => {", `const m = ${emptySource(desc)};`, "let v;", ...stores, "return m;", "};"];
  return new Function("converts", "EMPTY", source.join("\n"))(converts, EMPTY) as Make;
}

/** What is done with a value that is given for a field; undefined if it is taken as it is. */
function convertOf(field: DescField): Convert | undefined {
  const one = convertOneOf(field);
  if (one === undefined) return undefined;
  switch (field.fieldKind) {
    case "list":
      return (list) => (list as readonly unknown[]).map(one);
    case "map":
      return (map) => Object.fromEntries(Object.entries(map as object).map(([key, value]) => [key, one(value)]));
    default:
      return one;
  }
}

function convertOneOf(field: DescField): Convert | undefined {
  const { message, scalar } = field;
  if (isJson(field)) return undefined;
  if (message !== undefined)
    return (init) => (typeof init === "object" && init !== null ? messageFrom(message, init as never) : init);
  if (scalar === ScalarType.BYTES) return (bytes) => (Array.isArray(bytes) ? new Uint8Array(bytes) : bytes);
  return undefined;
}

/** Of the fields of a oneof the one that is chosen. */
function oneofOf(fields: readonly DescField[]): Convert {
  const converts = new Map(fields.map((field) => [field.localName, convertOf(field)]));
  return (chosen) => {
    const { case: name = "", value } = chosen as { readonly case?: string; readonly value?: unknown };
    if (!converts.has(name)) return { case: undefined };
    const convert = converts.get(name);
    return { case: name, value: convert === undefined ? value : convert(value) };
  };
}
