import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCompiled } from "../../../../../services/shared/rpc/binary/fields.js";
import { messageIn } from "../../../../../services/shared/rpc/binary/read.js";
import { binaryOf } from "../../../../../services/shared/rpc/binary/write.js";
import { SightingService } from "../../../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";
import { anyMessage } from "../../../../facade/support/arbitrary-message.js";
import { messagesOfRpcs } from "../messages.js";

/** With those of the fixtures, which have what few messages of the API have: maps, JSON, numbers of each type. */
const all = [...messagesOfRpcs(), ...SightingService.methods.flatMap(({ input, output }) => [input, output])];

/** What a reader makes of some bytes. */
function outcomeOf(read: () => Message): Message | "refused" {
  try {
    return read();
  } catch {
    return "refused";
  }
}

describe("messages of every rpc", () => {
  test("are compiled", () => {
    expect(all.length).toBeGreaterThan(500);
    expect(all.filter((desc) => !isCompiled(desc))).toEqual([]);
  });

  test.each(all.map((desc) => [desc.typeName, desc] as const))(
    "%s is written and read as by the library",
    (_, desc) => {
      fc.assert(
        fc.property(anyMessage(desc), (message) => {
          const bytes = toBinary(desc, message);
          expect(Buffer.from(binaryOf(desc, message)).equals(bytes)).toBe(true);
          expect(messageIn(desc, bytes)).toStrictEqual(fromBinary(desc, bytes));
        }),
        { numRuns: 8 },
      );
    },
  );

  test("are refused and kept as by the library if their bytes are others", () => {
    const anyCase = fc
      .constantFrom(...all)
      .chain((desc) =>
        fc.tuple(
          fc.constant(desc),
          anyMessage(desc),
          fc.array(fc.tuple(fc.nat(4_000), fc.nat(255)), { maxLength: 4 }),
          fc.nat(4_000),
          fc.uint8Array({ maxLength: 12 }),
        ),
      );
    fc.assert(
      fc.property(anyCase, ([desc, message, changes, cut, more]) => {
        const bytes = Buffer.concat([toBinary(desc, message).subarray(0, 1 + cut), more]);
        for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
        const expected = outcomeOf(() => fromBinary(desc, bytes));
        const found = outcomeOf(() => messageIn(desc, bytes));
        if (expected === "refused" || found === "refused") expect(found).toBe(expected);
        else expect(Buffer.from(binaryOf(desc, found)).equals(toBinary(desc, expected))).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  test("of any length are written", () => {
    const desc = all.find((one) => one.typeName === "core.v1.ListAgentsResponse") as DescMessage;
    for (const length of [0, 42, 43, 127, 128, 16_383, 16_384, 70_000, 3_000_000]) {
      const row = { description: "é".repeat(length / 2), name: "n" };
      const message = create(desc, {
        agents: [row, { ...row, owner: { id: "x".repeat(length) } }],
        nextPageToken: "p",
      } as never);
      expect(Buffer.from(binaryOf(desc, message)).equals(toBinary(desc, message))).toBe(true);
    }
  });

  test("hold values that the library refuses, and refuse them too", () => {
    const desc = all.find((one) => one.typeName === "core.v1.ListAgentsRequest") as DescMessage;
    const wrong = { ...fromBinary(desc, new Uint8Array()), pageSize: 2 ** 40 } as Message;
    expect(() => toBinary(desc, wrong)).toThrow();
    expect(() => binaryOf(desc, wrong)).toThrow();
  });
});
