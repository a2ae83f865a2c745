import { expect, test } from "vitest";
import { storable } from "../../../../../services/shared/store/embedded/values.js";

test("what is stored of a document is a copy that shares nothing with it", () => {
  const document = {
    _id: "a",
    at: new Date(1),
    bytes: new Uint8Array([1]),
    list: ["x", { at: new Date(2) }, [1, null]],
    inner: { text: "t", nothing: null },
  };
  const copy = storable(document);
  expect(copy).toEqual({ ...document, bytes: Buffer.from([1]) });
  for (const name of ["at", "bytes", "list", "inner"] as const) expect(copy[name]).not.toBe(document[name]);
  document.list.push("y");
  document.inner.text = "changed";
  document.at.setTime(3);
  expect(copy).toMatchObject({ at: new Date(1), inner: { text: "t" } });
  expect(copy.list).toHaveLength(3);
});

test("absent fields are left out, at any depth, and absent elements are null", () => {
  const copy = storable({ _id: "a", absent: undefined, inner: { absent: undefined, there: 1 }, list: [undefined, 1] });
  expect(copy).toStrictEqual({ _id: "a", inner: { there: 1 }, list: [null, 1] });
});

test("what cannot be stored is refused, and named", () => {
  const cases: [unknown, string][] = [
    [{ _id: "a", inner: { when: new Map() } }, "inner.when cannot be stored"],
    [{ _id: "a", list: [() => 1] }, "list cannot be stored"],
    [{ _id: "a", big: 1n }, "big cannot be stored"],
    [{ _id: "a", ["__proto__"]: 1 }, "a field cannot be named __proto__"],
    [{ _id: "a", inner: JSON.parse('{"__proto__": 1}') }, "a field cannot be named __proto__"],
    [{ _id: 1 }, "_id must be a string of at most 240 bytes"],
    [{}, "_id must be a string of at most 240 bytes"],
  ];
  for (const [document, words] of cases) expect(() => storable(document as never)).toThrow(words);
});
