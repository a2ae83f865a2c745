import { create, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCompiled } from "../../../../services/shared/rpc/binary/fields.js";
import { emptyMessage, messageFrom } from "../../../../services/shared/rpc/message-from.js";
import { anyMessage } from "../../../facade/support/arbitrary-message.js";
import { messagesOfRpcs } from "./messages.js";

const all = messagesOfRpcs();

/** What a message was made of: the same without the names of its types, in whole or in part. */
function bare(value: unknown, keepsInner: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => (keepsInner ? one : bare(one, keepsInner)));
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  const members = Object.entries(value).filter(([name, member]) => name !== "$typeName" && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, keepsInner ? member : bare(member, keepsInner)]));
}

/** What a message is made of, of which fields are left out. */
const anyInit = (desc: DescMessage): fc.Arbitrary<never> =>
  fc
    .tuple(anyMessage(desc), fc.boolean(), fc.func(fc.boolean()))
    .map(([message, keepsInner, isLeftOut]) =>
      Object.fromEntries(Object.entries(bare(message, keepsInner) as object).filter(([name]) => !isLeftOut(name))),
    ) as fc.Arbitrary<never>;

describe("a message is made as by the library", () => {
  test.each(all.map((desc) => [desc.typeName, desc] as const))("%s", (_, desc) => {
    expect(emptyMessage(desc)).toStrictEqual(create(desc));
    expect(messageFrom(desc, undefined)).toStrictEqual(create(desc));
    fc.assert(
      fc.property(anyInit(desc), (init) => {
        expect(messageFrom(desc, init)).toStrictEqual(create(desc, init));
      }),
      { numRuns: 8 },
    );
  });

  test("also of what is not given, of bytes as a list, and of choices that nobody knows", () => {
    const [desc] = all.filter((one) => isCompiled(one) && one.oneofs.length > 0) as [DescMessage];
    const choice = desc.oneofs[0]?.localName as string;
    for (const chosen of [undefined, null, {}, { case: undefined }, { case: "nothing of it", value: 1 }]) {
      const init = { [choice]: chosen, $unknown: undefined } as never;
      expect(messageFrom(desc, init)).toStrictEqual(create(desc, init));
    }
    for (const one of all.filter((each) => isCompiled(each))) {
      for (const field of one.fields.filter(({ scalar }) => scalar === ScalarType.BYTES)) {
        const bytes = field.fieldKind === "list" ? [[1, 2], new Uint8Array([3])] : [1, 2];
        if (field.oneof === undefined)
          expect(messageFrom(one, { [field.localName]: bytes } as never)).toStrictEqual(
            create(one, { [field.localName]: bytes } as never),
          );
      }
    }
  });

  test("and what is a message already is taken as it is", () => {
    const message = create(all[0] as DescMessage) as Message;
    expect(messageFrom(all[0] as DescMessage, message as never)).toBe(message);
  });

  test("two messages share nothing that can be changed", () => {
    for (const desc of all) {
      const [one, other] = [emptyMessage(desc), emptyMessage(desc)] as unknown as Record<string, unknown>[];
      for (const [name, value] of Object.entries(one as object))
        if (typeof value === "object" && value !== null && !(value instanceof Uint8Array))
          expect(value).not.toBe(other?.[name]);
    }
  });
});
