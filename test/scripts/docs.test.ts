import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clientsPage, readmeOf } from "../../scripts/clients-page.js";
import { configurationPage, directoryOf, QUOTING, toolLists, toolsPage } from "../../scripts/docs.js";
import { quoted } from "../../scripts/quotes.js";
import { resourcesPage } from "../../scripts/resources/page.js";
import { rightsPage } from "../../scripts/rights-page.js";

test.each([
  ["docs/configuration.md", configurationPage],
  ["docs/tools.md", toolsPage],
  ["docs/resources.md", resourcesPage],
  ["docs/clients.md", clientsPage],
  ["docs/rights.md", rightsPage],
  ["README.md", () => readmeOf(readFileSync("README.md", "utf8"))],
  ["docs/directory.md", () => directoryOf(readFileSync("docs/directory.md", "utf8"))],
])("%s says what the program reads (npm run docs)", (file, page) => {
  expect(readFileSync(file, "utf8")).toBe(page());
});

test.each(toolLists())(
  "$file is the list that was reviewed (npm run docs, and read the difference)",
  ({ file, text }) => {
    expect(readFileSync(file, "utf8")).toBe(text);
  },
);

test.each(QUOTING)("%s quotes files as they are (npm run docs)", (page) => {
  const text = readFileSync(page, "utf8");
  expect(text).toContain("<!-- quote ");
  expect(text).toBe(quoted(text, (file) => readFileSync(file, "utf8")));
});

test("a quote is the file's part, without its indentation; one of a part that is not there is an error", () => {
  const file = "one\n  // [a]\n  two\n    three\n\n  // [b]\n  four\n";
  const page = (name: string, text: string) => `<!-- quote x.js [${name}] -->\n\`\`\`js\n${text}\`\`\`\n`;
  expect(quoted(page("a", ""), () => file)).toBe(page("a", "two\n  three\n"));
  expect(quoted(page("b", "old\n"), () => file)).toBe(page("b", "four\n"));
  expect(() => quoted(page("c", ""), () => file)).toThrow("x.js has no part [c]");
});
