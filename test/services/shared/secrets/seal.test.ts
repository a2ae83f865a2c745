import { expect, test } from "vitest";
import { createSeal, newSealKey, parseSealKeys } from "../../../../services/shared/secrets/seal.js";

const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

test("what is sealed opens where it was sealed, and nowhere else", () => {
  const seal = createSeal([newer]);
  const sealed = seal.seal("a secret: ключ", "variables/1");
  expect(sealed).toMatch(/^v2\.[0-9a-f]{8}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
  expect(seal.seal("a secret: ключ", "variables/1")).not.toBe(sealed);
  expect(seal.open(sealed, "variables/1")).toBe("a secret: ключ");
  expect(() => seal.open(sealed, "variables/2")).toThrow(/variables\/2 was changed after it was encrypted/);
});

test("whatever is changed in it, it does not open", () => {
  const seal = createSeal([newer]);
  const sealed = seal.seal("secret", "here");
  for (let i = 0; i < sealed.length; i++) {
    const other = sealed[i] === "A" ? "B" : "A";
    expect(() => seal.open(sealed.slice(0, i) + other + sealed.slice(i + 1), "here"), String(i)).toThrow();
  }
  for (const cut of ["", "v1", "v2", "v2.", `v1${sealed.slice(2)}`, sealed.slice(0, 12), sealed.slice(0, 30)]) {
    expect(() => seal.open(cut, "here")).toThrow();
  }
});

test("an older key opens what it sealed, the newest seals, and without the older one it says what to do", () => {
  const before = createSeal([older]).seal("secret", "here");
  const rotated = createSeal([newer, older]);
  expect(rotated.open(before, "here")).toBe("secret");
  expect([rotated.isCurrent(before), rotated.isCurrent(rotated.seal("x", "here"))]).toEqual([false, true]);
  expect(() => createSeal([newer]).open(before, "here")).toThrow(/another key: add that key.*SECRETS_KEY/);
});

test("each text has a data key of its own: a new sealing key wraps that anew and leaves the text as it is", () => {
  const before = createSeal([older]).seal("secret", "here");
  const rotated = createSeal([newer, older]);
  const after = rotated.rewrap(before, "here");
  expect(after.split(".")[3]).toBe(before.split(".")[3]);
  expect(after.split(".")[2]).not.toBe(before.split(".")[2]);
  const only = createSeal([newer]);
  expect([only.open(after, "here"), only.isCurrent(after)]).toEqual(["secret", true]);
  expect(() => rotated.rewrap(before, "there")).toThrow(/there was changed after it was encrypted/);
  // A data key opens its own text alone.
  const [other, one] = [only.seal("other", "here").split("."), after.split(".")];
  expect(() => only.open([...one.slice(0, 3), other[3]].join("."), "here")).toThrow(
    /was changed after it was encrypted/,
  );
});

test("keys are read as they are written down, and a wrong one is not shown", () => {
  const key = newSealKey();
  expect(parseSealKeys(`${key}\n`)).toHaveLength(1);
  expect(parseSealKeys(`${key},${newSealKey()}`)).toHaveLength(2);
  for (const wrong of ["", "short", `${key}x`, `${key},short`]) {
    expect(() => parseSealKeys(wrong)).toThrow(/^must be keys of 32 bytes in base64url/);
  }
});
