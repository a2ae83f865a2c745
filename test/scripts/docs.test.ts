import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configurationPage, toolLists, toolsPage } from "../../scripts/docs.js";

test.each([
  ["docs/configuration.md", configurationPage],
  ["docs/tools.md", toolsPage],
])("%s says what the program reads (npm run docs)", (file, page) => {
  expect(readFileSync(file, "utf8")).toBe(page());
});

test.each(toolLists())(
  "$file is the list that was reviewed (npm run docs, and read the difference)",
  ({ file, text }) => {
    expect(readFileSync(file, "utf8")).toBe(text);
  },
);
