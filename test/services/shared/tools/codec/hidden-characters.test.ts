import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AddLabelsRequestSchema } from "#proto/cti/v1/annotation_service_pb.js";
import { ExternalReferenceSchema, GetEntityStixResponseSchema } from "#proto/cti/v1/entity_service_pb.js";
import { compileDecode } from "../../../../../services/shared/tools/codec/decode.js";
import { compileEncode } from "../../../../../services/shared/tools/codec/encode.js";
import { restoreHidden, showHidden } from "../../../../../services/shared/tools/codec/hidden-characters.js";

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const HIDDEN = [
  0x061c,
  ...range(0x200e, 0x200f),
  ...range(0x202a, 0x202e),
  ...range(0x2060, 0x2064),
  ...range(0x2066, 0x2069),
  ...range(0xe0000, 0xe0fff),
].map((code) => String.fromCodePoint(code));
const SEEN = /^[\u061c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u{e0000}-\u{e0fff}]$/u;

test("every hidden character is written out, and that form is turned back", () => {
  for (const hidden of HIDDEN) {
    const shown = showHidden(`a${hidden}b`);
    expect(shown).toBe(`a‹U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}›b`);
    expect(restoreHidden(shown)).toBe(`a${hidden}b`);
  }
});

test("what is no hidden character stays: emoji, joiners, accents, other writing, other forms", () => {
  for (const text of ["👩‍💻 👍🏽 ☀️", "می‌خواهم", "naïve – “x”", "שלום", "‹U+0041›", "‹U+202E", "U+202E", "‹u+202e›"]) {
    expect(showHidden(text)).toBe(text);
    expect(restoreHidden(text)).toBe(text);
  }
});

test("a text without the shown form comes back as it was", () => {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...HIDDEN), fc.string({ unit: "grapheme" })))
    .map((all) => all.join(""));
  fc.assert(
    fc.property(text, (one) => {
      const shown = showHidden(one);
      expect([...shown].some((character) => SEEN.test(character))).toBe(false);
      expect(restoreHidden(shown)).toBe(one);
    }),
  );
});

const name = "invoice\u202Efdp.exe \u{e0069}\u{e0067}";
const shown = "invoice‹U+202E›fdp.exe ‹U+E0069›‹U+E0067›";

test("a result shows them where it is asked to, and somebody else's document stays exact", () => {
  const reference = create(ExternalReferenceSchema, { sourceName: name });
  expect(JSON.parse(compileEncode(ExternalReferenceSchema, true)(reference))).toMatchObject({ source_name: shown });
  expect(JSON.parse(compileEncode(ExternalReferenceSchema)(reference))).toMatchObject({ source_name: name });
  const stix = create(GetEntityStixResponseSchema, { stix: { name } });
  expect(JSON.parse(compileEncode(GetEntityStixResponseSchema, true)(stix))).toEqual({ stix: { name } });
});

test("an argument that copies them finds what it means", () => {
  const given = { object_id: "1", labels: [shown, "plain"] };
  expect(compileDecode(AddLabelsRequestSchema, true)(given)).toMatchObject({ labels: [name, "plain"] });
  expect(compileDecode(AddLabelsRequestSchema)(given)).toMatchObject({ labels: [shown, "plain"] });
  expect(() => compileDecode(AddLabelsRequestSchema, true)({ object_id: "‹\ud800" })).toThrow(/half a character/);
  expect(() => compileDecode(AddLabelsRequestSchema, true)({ object_id: 1 })).toThrow(/must be a string/);
});
