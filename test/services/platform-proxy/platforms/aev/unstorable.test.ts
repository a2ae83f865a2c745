import { expect, test } from "vitest";
import { refusalOf } from "../../../../../services/platform-proxy/platforms/aev/errors.js";
import { needStorable } from "../../../../../services/platform-proxy/platforms/aev/unstorable.js";

const session = { caller: { email: "ana@example.org" }, tool: "Test" } as never;

function said(status: number, answer: object, body: object): string {
  const text = JSON.stringify(answer);
  const reply = { status, headers: {}, text, json: <T>() => answer as T };
  return refusalOf(reply, { session, request: { verb: "POST", path: "/api/x", body }, isRead: false }).rawMessage;
}

const violated = (error: string) => ({ message: "Database integrity violation", error });

test.each([
  [{ tag_name: "a\0b", tag_color: "#fff" }, "name: has a NUL character, which OpenAEV cannot store"],
  [{ tag_name: "x", tag_flags: [{ value: "a\0" }] }, "flags: has a NUL character, which OpenAEV cannot store"],
])("a NUL is no conflict with another object: %j", (body, words) => {
  expect(said(409, violated('ERROR: invalid byte sequence for encoding "UTF8": 0x00'), body)).toBe(words);
});

test("a long text is no conflict with another object, and a blank one beside it is not blamed", () => {
  const body = { variable_value: "x".repeat(256), variable_description: " " };
  const error = "ERROR: value too long for type character varying(255)";
  expect(said(409, violated(error), body)).toBe("value: must be at most 255 characters");
});

test("a refusal without a reason names the field that is blank", () => {
  expect(said(400, { status: 400, error: "Bad Request" }, { tag_name: "\u0001 ", tag_color: "" })).toBe(
    "name: must be more than blanks",
  );
});

test("a NUL in a form is told too", () => {
  expect(said(409, violated('ERROR: invalid byte sequence for encoding "UTF8": 0x00'), undefined as never)).toBe(
    "a text has a NUL character, which OpenAEV cannot store",
  );
});

test.each([
  ["(vulnerability_external_id, tenant_id)=(CVE-1, t)", "there is one with the same identifier"],
  ["(finding_type, finding_value)=(text, x)", "there is one with the same type, value"],
])("what two objects may not share is named: %s", (key, words) => {
  const error = `ERROR: duplicate key value violates unique constraint "c"\n  Detail: Key ${key} already exists.`;
  expect(said(409, violated(error), { finding_type: "text", finding_value: "x" })).toMatch(words);
});

test("of any other conflict, no more is said than is known", () => {
  expect(said(409, violated("ERROR: deadlock"), { tag_name: "x" })).toMatch(/conflicts with an existing object/);
});

test("a NUL is refused before anything is written", () => {
  expect(() => needStorable({ name: "a\0b", main_focus: "c\0", category: undefined, description: "d" })).toThrow(
    "name: has a NUL character, which OpenAEV cannot store; main_focus: has a NUL character",
  );
  needStorable({ name: "a", category: undefined });
});
