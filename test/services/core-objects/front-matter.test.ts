import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readFrontMatter } from "../../../services/core-objects/front-matter.js";

const folder = mkdtempSync(join(tmpdir(), "front-matter-"));
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  const path = join(folder, "SKILL.md");
  writeFileSync(path, text);
  return readFrontMatter(path);
}

/** What is said of a file, without its folder. */
function refusal(text: string, use: (file: ReturnType<typeof read>) => unknown = () => undefined): string {
  try {
    use(read(text));
  } catch (error) {
    return (error as Error).message.replace(`${folder}/`, "");
  }
  throw new Error("nothing was refused");
}

test("front matter is YAML as others write it, and the body is what stands after it", () => {
  const file = read(
    '---\n# a comment\nname: plain\ndescription: >-\n  folded\n  text\nlabels: [a, "b"]\ntools:\n  - c\nmetadata:\n  labels: x y\n---\n\n# Body\n---\n',
  );
  expect(file.text("name")).toBe("plain");
  expect(file.text("description")).toBe("folded text");
  expect(file.texts("labels")).toEqual(["a", "b"]);
  expect(file.texts("tools")).toEqual(["c"]);
  expect(file.text("metadata", "labels")).toBe("x y");
  expect(file.names("metadata")).toEqual(["labels"]);
  expect(file.body).toBe("# Body\n---\n");
});

test("what is not as it must be is refused with file and line", () => {
  expect(refusal("# No front matter\n")).toMatch(/^SKILL\.md:1: does not begin with front matter/);
  expect(refusal("---\n- a\n- b\n---\n")).toBe("SKILL.md:2: the front matter is not a mapping");
  expect(refusal('---\nname: ok\ntools: ["a", "b"\n---\n')).toMatch(/^SKILL\.md:[34]: /);
  expect(refusal("---\nname: ok\nname: twice\n---\n")).toMatch(/^SKILL\.md:3: Map keys must be unique/);
  expect(refusal("---\nname: ok\nlabels: one\n---\n", (file) => file.texts("labels"))).toBe(
    "SKILL.md:3: labels must be a list of texts",
  );
  expect(refusal("---\nname: ok\nlabels: [1]\n---\n", (file) => file.texts("labels"))).toMatch(/^SKILL\.md:3: labels/);
  expect(refusal("---\nname: ok\ndescription: 7\n---\n", (file) => file.text("description"))).toBe(
    "SKILL.md:3: description must be a text",
  );
  expect(refusal("---\nname: ok\narguments: [a]\n---\n", (file) => file.names("arguments"))).toBe(
    "SKILL.md:3: arguments must be a mapping",
  );
  expect(refusal("---\nname: ok\n---\n", (file) => file.text("metadata", "labels"))).toBe(
    "SKILL.md:1: metadata.labels must be a text",
  );
});
