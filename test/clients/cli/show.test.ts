import { expect, test } from "vitest";
import { failureOf } from "../../../clients/cli/reasons.js";
import { line, shown } from "../../../clients/cli/show.js";
import { momentOf, spanOf } from "../../../clients/cli/span.js";

test("a list is a table under its columns", () => {
  const answer = {
    users: [
      { email: "a@b.org", admin: true, groups: ["x", "y"] },
      { email: "longer@b.org", admin: false },
    ],
  };
  expect(shown(answer, { columns: ["email", "admin", "groups"] })).toBe(
    ["EMAIL         ADMIN  GROUPS", "a@b.org       yes    x, y", "longer@b.org  no"].join("\n"),
  );
  expect(shown({ users: [] }, { columns: ["email"] })).toBe("no users");
  expect(shown({ name: "A", groups: [] }, {})).toBe("name  A");
  expect(shown({ users: [{ a: 1 }], more: true }, {})).toBe("A\n1\n\nmore  yes");
});

test("one thing is its fields, those that are there", () => {
  expect(shown({ id: "1", last_used_at: undefined, old_key: null }, {})).toBe("id  1");
});

test("a long cell is cut, and a time is local", () => {
  expect(shown({ rows: [{ text: "x".repeat(100) }] }, {}).split("\n")[1]).toHaveLength(60);
  const at = new Date(2026, 10, 22, 8, 5, 9);
  expect(line({ at: at.toISOString(), empty: "", who: "a" }, {})).toBe("2026-11-22 08:05:09  a");
});

test("spans and moments are read, and told by their flag", () => {
  expect(spanOf("90d", "--in")).toBe(90 * 86_400_000);
  expect(() => spanOf("soon", "--in")).toThrow(/--in must be a duration such as 90d/);
  expect(momentOf("2h", "--since", 7_200_000)).toEqual(new Date(0));
  expect(momentOf("2026-11-22", "--since")).toEqual(new Date(2026, 10, 22));
  expect(momentOf("2026-11-22T08:00Z", "--since").toISOString()).toBe("2026-11-22T08:00:00.000Z");
  expect(() => momentOf("yesterday", "--since")).toThrow(/--since/);
});

test("a service that is not there is told so, whatever the error is wrapped in", () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  expect(failureOf(new Error("fetch failed", { cause: refused }))).toMatchObject({ exitCode: 6 });
  expect(failureOf(new Error("other"))).toMatchObject({ message: "other", exitCode: 1 });
});
