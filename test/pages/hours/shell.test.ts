import { expect, test } from "vitest";
import { shown } from "../../../clients/cli/show.js";
import { inPlaceOf } from "./shell.js";

test("columns stay aligned if a page shows a shorter path", () => {
  const folder = "/tmp/sallyport-page-abcdef";
  const rows = [
    { about: `${folder}/backup`, arguments: "", outcome: "ok" },
    { about: "bo@example.org", arguments: "id, disabled=true", outcome: "ok" },
  ];
  const table = shown({ rows }, { columns: ["about", "arguments", "outcome"] });
  const ends = inPlaceOf(table, folder, "/srv/sallyport")
    .split("\n")
    .map((line) => line.search(/(?:ok|OUTCOME)$/));
  expect(new Set(ends).size).toBe(1);
});

test("a sentence, a path at the end of a line and the fields of one object keep their spaces", () => {
  expect(inPlaceOf("in /a/long/b is used\nfrom  /a/long\nat    x", "/a/long", "/s")).toBe(
    "in /s/b is used\nfrom  /s\nat    x",
  );
});
