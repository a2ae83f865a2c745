import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { RootDatabase } from "lmdb";
import { afterAll, beforeAll } from "vitest";
import { closeEnvironment, shareEnvironment } from "../../../../../services/shared/store/embedded/environment.js";

// Documents as the store has them, and what the library makes of them.

/** What the library writes and reads documents with. */
export interface Coder {
  encode(value: unknown): Buffer;
  decode(bytes: Buffer, end?: number): unknown;
}

/** The coder of an environment of its own, while a file's tests run. */
export function useCoder(): Coder {
  const dir = mkdtempSync(join(tmpdir(), "coder-"));
  let root: RootDatabase;
  let own: Coder;
  beforeAll(() => {
    root = shareEnvironment(dir);
    const options = { encoding: "msgpack", encoder: { useRecords: false, structures: undefined } } as const;
    own = (root.openDB("x", options) as unknown as { encoder: Coder }).encoder;
  });
  afterAll(async () => {
    await closeEnvironment(root);
    rmSync(dir, { recursive: true });
  });
  return { encode: (value) => own.encode(value), decode: (bytes, end) => own.decode(bytes, end) };
}

const DATES = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true });
const TEXTS = fc
  .oneof(fc.string(), fc.string({ unit: "grapheme", maxLength: 300 }), fc.constant("x".repeat(70_000)))
  .filter((text) => !text.includes("\ufffd"));
export const SCALARS = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.nat(300),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }),
  DATES,
  TEXTS,
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);
const NAMES = fc.stringMatching(/^[a-z_]{1,31}$/);
const VALUES = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, SCALARS, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 40 }),
  object: fc.dictionary(NAMES, tie("value"), { maxKeys: 20 }),
}));
export const DOCUMENTS = fc.dictionary(NAMES, VALUES.value, { maxKeys: 40 });

/** Whatever the store takes, the odd half of it now and then. */
const ODD_TEXTS = fc.oneof(
  { weight: 20, arbitrary: fc.string() },
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    ...["", "\0", "\ufeffa", "\ufffd"],
    ...[31, 32, 255, 256, 65_535, 65_536].flatMap((length) => ["x".repeat(length), `${"é".repeat(length >> 1)}\ud800`]),
  ),
);
export const ODD_NAMES = fc.oneof(
  { weight: 20, arbitrary: NAMES.filter((name) => name !== "__proto__") },
  fc.constantFrom(
    "constructor",
    "toString",
    "hasOwnProperty",
    "__proto",
    "0",
    "10",
    "-1",
    "",
    "\ud800",
    "\ufffd",
    "a.b",
  ),
  fc.constantFrom("x".repeat(31), "x".repeat(32), "é".repeat(15), "é".repeat(16)),
);
const TIMES = [Number.NaN, 0, -1, 1, 1_500, 2 ** 32 * 1_000, 2 ** 34 * 1_000 - 1, 2 ** 34 * 1_000, 8.64e15, -8.64e15];
const ODD_SCALARS = fc.oneof(
  { weight: 20, arbitrary: SCALARS.filter((value) => typeof value !== "string" || value.length < 1_000) },
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 31), 2 ** 32, -129, -32_769, 65_536),
  fc.constantFrom(...TIMES).map((time) => new Date(time)),
  ODD_TEXTS,
);
export const ODD = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, ODD_SCALARS, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 20 }),
  object: fc.array(fc.tuple(ODD_NAMES, tie("value")), { maxLength: 20 }).map((fields) => Object.fromEntries(fields)),
}));
