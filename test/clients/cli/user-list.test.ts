import { expect, test } from "vitest";
import { readUserList } from "../../../clients/cli/user-list.js";

test("columns come in any order and case, groups are separated by semicolons, and empty lines do not count", () => {
  const text =
    '\uFEFFName,EMAIL,groups,admin\r\n"Lee, Ana",ana@example.org, red ; blue,yes\r\n\r\nBo,bo@example.org,,\r\n';
  expect(readUserList(text)).toEqual([
    { line: 2, email: "ana@example.org", name: "Lee, Ana", admin: true, groups: ["red", "blue"] },
    { line: 4, email: "bo@example.org", name: "Bo", admin: false, groups: [] },
  ]);
});

test("every wrong line is named at once", () => {
  const text = "email,name,admin\nana,Ana,\nbo@example.org,,perhaps\ncy@example.org,Cy,no\nCY@example.org,Cy,no\n";
  expect(() => readUserList(text)).toThrow(
    [
      "nothing was changed; correct the file:",
      'line 2: "ana" is not an e-mail address',
      "line 3: a name has 1 to 200 characters",
      "line 3: admin is yes or no",
      "line 5: line 4 has the same e-mail address",
    ].join("\n"),
  );
});

test.each([
  ["email\na@b", /must name columns of email, name, groups, admin, .*; it has no name$/],
  ["email,name,phone\na@b,A,1", /; it has phone$/],
  ["email,name\n", /has no rows/],
  ['email,name\n"a@b,A', /is not CSV: /],
  ["email,name\na@b,A,more", /is not CSV: /],
  [`email,name\n${"x".repeat(2 ** 20)}`, /longer than 1 MiB/],
  [`email,name\n${Array.from({ length: 5_001 }, (_, i) => `u${i}@b,U`).join("\n")}`, /more than 5000 rows/],
])("%.30j is refused with what is wrong", (text, why) => {
  expect(() => readUserList(text)).toThrow(why);
});
