import fc from "fast-check";

// Exports of spans as bytes that no library would write and every one reads: fields in any order, fields that come twice,
// numbers in more bytes than they need, and fields that nobody knows.

/** A number as a varint, in more bytes than it needs. */
function varint(value: bigint, more = 0, most = 10): Buffer {
  const bytes: number[] = [];
  for (let left = BigInt.asUintN(64, value); ; left >>= 7n) {
    bytes.push(Number(left & 0x7fn));
    if (left < 0x80n) break;
  }
  while (more-- > 0 && bytes.length < most) bytes.push(0);
  return Buffer.from(bytes.map((byte, i) => (i < bytes.length - 1 ? byte | 0x80 : byte)));
}

const more = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 9 }));
const bytesOf = (most: number) => fc.uint8Array({ maxLength: most }).map((bytes) => Buffer.from(bytes));
/** Tags and lengths have at most five bytes. */
const SHORT = 5;
const tagged = (number: number, wire: number, value: fc.Arbitrary<Buffer>) =>
  fc
    .tuple(more, value)
    .map(([longer, bytes]) => Buffer.concat([varint(BigInt(number * 8 + wire), longer, SHORT), bytes]));
const number = (value: fc.Arbitrary<bigint>) => fc.tuple(value, more).map(([n, longer]) => varint(n, longer));
const fixed64 = (value: fc.Arbitrary<bigint>) =>
  value.map((n) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(n);
    return bytes;
  });
const fixed32 = (value: fc.Arbitrary<number>) =>
  value.map((n) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(n);
    return bytes;
  });
const piece = (no: number, value: fc.Arbitrary<Buffer>) =>
  tagged(
    no,
    2,
    fc.tuple(more, value).map(([longer, bytes]) => Buffer.concat([varint(BigInt(bytes.length), longer, SHORT), bytes])),
  );

const anyNumber = fc.oneof(
  fc.bigInt({ min: 0n, max: 3n }),
  fc.constantFrom(0n, 2n ** 31n, 2n ** 32n, 2n ** 32n + 2n, 2n ** 53n, 2n ** 64n - 1n, 2n ** 63n + 2n, -2n),
);
/** Fields that a later version may add, of each wire type. */
const unknown = fc
  .integer({ min: 900, max: 70_000 })
  .chain((no) =>
    fc.oneof(
      tagged(no, 0, number(anyNumber)),
      tagged(no, 1, fixed64(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))),
      piece(no, bytesOf(40)),
      tagged(no, 5, fixed32(fc.nat())),
    ),
  );
/** A message of fields that are surely there, and of others, in any order. */
const message = (certain: readonly fc.Arbitrary<Buffer>[], others: fc.Arbitrary<Buffer>, most: number) =>
  fc
    .tuple(fc.tuple(...certain), fc.array(fc.oneof({ weight: 9, arbitrary: others }, unknown), { maxLength: most }))
    .chain(([some, rest]) => fc.shuffledSubarray([...some, ...rest], { minLength: some.length + rest.length }))
    .map((fields) => Buffer.concat(fields));
/** Mostly there once. */
const mostly = (field: fc.Arbitrary<Buffer>) =>
  fc.oneof({ weight: 30, arbitrary: field }, { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) });

const text = (words: fc.Arbitrary<string>) => words.map((word) => Buffer.from(word));

/** Attributes, with values in values. */
function attributesOf(keys: fc.Arbitrary<string>, words: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const { attribute } = fc.letrec<{ attribute: Buffer; value: Buffer; list: Buffer; attributes: Buffer }>((tie) => ({
    value: message(
      [],
      fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        piece(1, text(words)),
        tagged(2, 0, number(anyNumber)),
        tagged(3, 0, number(fc.oneof(fc.bigInt({ min: 0n, max: 3000n }), anyNumber))),
        tagged(4, 1, fixed64(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))),
        piece(7, bytesOf(9)),
        piece(5, tie("list")),
        piece(6, tie("attributes")),
      ),
      2,
    ),
    list: message([], piece(1, tie("value")), 2),
    attributes: message([], piece(1, tie("attribute")), 2),
    attribute: message([mostly(piece(1, text(keys)))], fc.oneof(piece(1, text(keys)), piece(2, tie("value"))), 2),
  }));
  return attribute;
}

/**
 * The bytes of exports.
 *
 * @param keys names of attributes; @param words other texts.
 */
export function wireSpans(keys: fc.Arbitrary<string>, words: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const attribute = attributesOf(keys, words);
  const now = BigInt(Date.now()) * 1_000_000n;
  const time = fixed64(
    fc.oneof(
      { weight: 60, arbitrary: fc.bigInt({ min: 0n, max: 5n }).map((n) => now - n) },
      { weight: 20, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 12n }).map((n) => now - n) },
      fc.constantFrom(0n, 1n, 2n ** 64n - 1n, 2n ** 63n),
    ),
  );
  const id = (length: number, most: number) =>
    fc.oneof(
      { weight: 40, arbitrary: fc.integer({ min: 1, max: most }).map((n) => Buffer.alloc(length, n)) },
      fc.constantFrom(Buffer.alloc(length), Buffer.alloc(length + 1, 1), Buffer.alloc(0)),
    );
  const event = message(
    [],
    fc.oneof(piece(2, text(words)), piece(3, attribute), tagged(1, 1, time), tagged(4, 0, number(anyNumber))),
    4,
  );
  const status = message([], fc.oneof(piece(2, text(words)), tagged(3, 0, number(anyNumber))), 3);
  const link = message([], fc.oneof(piece(1, bytesOf(16)), piece(2, bytesOf(8)), piece(4, attribute)), 3);
  const span = message(
    [
      mostly(piece(1, id(16, 2))),
      mostly(piece(2, id(8, 250))),
      mostly(tagged(7, 1, time)),
      mostly(tagged(8, 1, time)),
      mostly(piece(5, text(words))),
    ],
    fc.oneof(
      { weight: 12, arbitrary: piece(9, attribute) },
      { weight: 4, arbitrary: piece(15, status) },
      { weight: 3, arbitrary: piece(11, event) },
      { weight: 2, arbitrary: tagged(16, 5, fixed32(fc.constantFrom(0, 0x100, 0x200, 0x300, 0x301, 2 ** 32 - 1))) },
      { weight: 2, arbitrary: piece(4, id(8, 9)) },
      piece(1, id(16, 2)),
      piece(2, id(8, 250)),
      piece(3, text(words)),
      piece(5, text(words)),
      piece(13, link),
      tagged(6, 0, number(anyNumber)),
      tagged(7, 1, time),
      tagged(8, 1, time),
      tagged(10, 0, number(anyNumber)),
    ),
    12,
  );
  const scope = message([], fc.oneof(piece(1, text(words)), piece(2, text(words)), piece(3, attribute)), 2);
  const scopeSpans = message(
    [],
    fc.oneof({ weight: 6, arbitrary: piece(2, span) }, piece(1, scope), piece(3, text(words))),
    6,
  );
  const resource = message([], fc.oneof(piece(1, attribute), tagged(2, 0, number(anyNumber))), 4);
  const resourceSpans = message(
    [],
    fc.oneof({ weight: 3, arbitrary: piece(2, scopeSpans) }, piece(1, resource), piece(3, text(words))),
    4,
  );
  return message([piece(1, resourceSpans)], piece(1, resourceSpans), 2);
}
