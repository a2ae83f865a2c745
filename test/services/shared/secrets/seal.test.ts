import { expect, test } from "vitest";
import { createSeal, newSealKey, parseSealKeys } from "../../../../services/shared/secrets/seal.js";

const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

test("what is sealed opens where it was sealed, and nowhere else", () => {
  const seal = createSeal([newer]);
  const sealed = seal.seal("a secret: ключ", "variables/1");
  expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
  expect(seal.seal("a secret: ключ", "variables/1")).not.toBe(sealed);
  expect(seal.open(sealed, "variables/1")).toBe("a secret: ключ");
  expect(() => seal.open(sealed, "variables/2")).toThrow(/variables\/2 was changed since it was sealed/);
});

test("whatever is changed in it, it does not open", () => {
  const seal = createSeal([newer]);
  const sealed = seal.seal("secret", "here");
  for (let i = 0; i < sealed.length; i++) {
    const other = sealed[i] === "A" ? "B" : "A";
    expect(() => seal.open(sealed.slice(0, i) + other + sealed.slice(i + 1), "here"), String(i)).toThrow();
  }
  for (const cut of ["", "v1", "v1.", sealed.slice(0, 12), sealed.slice(0, 30)]) {
    expect(() => seal.open(cut, "here")).toThrow();
  }
});

test("an older key opens what it sealed, the newest seals, and without the older one it says what to do", () => {
  const before = createSeal([older]).seal("secret", "here");
  const rotated = createSeal([newer, older]);
  expect(rotated.open(before, "here")).toBe("secret");
  expect([rotated.isCurrent(before), rotated.isCurrent(rotated.seal("x", "here"))]).toEqual([false, true]);
  expect(() => createSeal([newer]).open(before, "here")).toThrow(/another key: give that key too.*SECRETS_KEY/);
});

test("keys are read as they are written down, and a wrong one is not shown", () => {
  const key = newSealKey();
  expect(parseSealKeys(`${key}\n`)).toHaveLength(1);
  expect(parseSealKeys(`${key},${newSealKey()}`)).toHaveLength(2);
  for (const wrong of ["", "short", `${key}x`, `${key},short`]) {
    expect(() => parseSealKeys(wrong)).toThrow(/^must be keys of 32 bytes in base64url/);
  }
});
