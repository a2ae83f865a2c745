/** A source of chance that repeats itself for the same seed (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** From 0 up to, and without, `below`. */
  int(below: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  /** True one time in `times`. */
  once(times: number): boolean {
    return this.int(times) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T;
  }
}

const BYTES = [0, 1, 0x0a, 0x22, 0x5b, 0x7b, 0x7f, 0x80, 0xff];

/** The same bytes with a few changed, cut out, repeated or put in; at times only bytes of chance. */
export function changedBytes(bytes: Buffer, random: Random): Buffer {
  if (random.once(50)) return Buffer.from(Array.from({ length: random.int(200) }, () => random.int(256)));
  let changed = Buffer.from(bytes);
  for (let n = random.int(4); n >= 0; n--) {
    const at = random.int(changed.length + 1);
    const end = Math.min(changed.length, at + random.int(16));
    switch (random.int(5)) {
      case 0:
        if (at < changed.length) changed[at] = random.once(2) ? random.pick(BYTES) : random.int(256);
        break;
      case 1:
        changed = Buffer.concat([changed.subarray(0, at), changed.subarray(end)]);
        break;
      case 2:
        changed = changed.subarray(0, at);
        break;
      case 3:
        changed = Buffer.concat([changed.subarray(0, end), changed.subarray(at)]);
        break;
      default:
        changed = Buffer.concat([
          changed.subarray(0, at),
          Buffer.alloc(random.int(9), random.pick(BYTES)),
          changed.subarray(at),
        ]);
    }
  }
  return changed;
}

const LONG = "x".repeat(3_000);
const deep = (levels: number): unknown => {
  let value: unknown = [];
  for (let n = 0; n < levels; n++) value = random(n) ? [value] : { a: value };
  return value;
};
const random = (n: number): boolean => n % 3 === 0;

/** Values that programs are not written for. */
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 31),
  "",
  " ",
  "\0",
  "null",
  "NaN",
  "2026-13-45T99:99:99Z",
  "‮gpj.exe",
  "\ud800",
  "é".repeat(70),
  LONG,
  "[".repeat(3_000),
  "[[[[]]]]",
  '{"a":1}',
  "00000000-0000-0000-0000-000000000000",
  [],
  [null],
  [[]],
  Array.from({ length: 600 }, () => "a"),
  {},
  { constructor: 1, toString: null },
  { length: -1 },
  JSON.parse('{"__proto__":{"polluted":true}}'),
  deep(30),
  deep(100),
  deep(1_500),
];

/** The same JSON with a value or a few exchanged for odd ones, members dropped, added or doubled. */
export function changedJson(value: unknown, chance: Random): unknown {
  if (chance.once(12)) return chance.pick(ODD);
  if (Array.isArray(value)) {
    const items = value.map((item) => (chance.once(3) ? changedJson(item, chance) : item));
    return chance.once(6) ? [...items, ...items, chance.pick(ODD)] : items;
  }
  if (typeof value !== "object" || value === null) return chance.once(4) ? chance.pick(ODD) : value;
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (chance.once(25)) return [];
    return [[chance.once(60) ? `${name}_` : name, chance.once(2) ? changedJson(member, chance) : member]];
  });
  if (chance.once(30)) members.push([chance.pick(["__proto__", "constructor", "", "id", LONG]), chance.pick(ODD)]);
  return Object.fromEntries(members);
}
