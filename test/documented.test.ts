import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const EXPORT = /^export (?:async |abstract )?(?:function\*?|class|interface|type|const|enum) (\w+)/;

/** The exports of a source whose line before is not the end of a doc comment. */
function undocumented(source: string): string[] {
  const lines = source.split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line, at) => {
    const name = EXPORT.exec(line)?.[1];
    // An overload is documented by its first signature.
    const isOverload = name !== undefined && EXPORT.exec(lines[at - 1] ?? "")?.[1] === name;
    return name === undefined || isOverload || lines[at - 1]?.endsWith("*/") ? [] : [name];
  });
}

test("every export says what it promises", () => {
  const files = ["facade", "services", "clients"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => join(folder, file)),
  );
  expect(files.length).toBeGreaterThan(300);
  const silent = files.flatMap((file) =>
    undocumented(readFileSync(join(ROOT, file), "utf8")).map((name) => `${file}: ${name}`),
  );
  expect(silent).toEqual([]);
});

test("one that says nothing is found", () => {
  expect(undocumented("/** Said. */\nexport const a = 1;\n\nexport async function b() {}")).toEqual(["b"]);
});
