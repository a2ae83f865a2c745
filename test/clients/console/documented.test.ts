import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

test("every test that docs/console.md names is there, and every test is named", () => {
  const named = [...read("docs/console.md").matchAll(/\| `([^`]+)` \|$/gm)].map(([, name]) => name as string);
  const files = ["screens", "work", "endpoint", "fragments", "upkeep"].map((name) =>
    read(`test/clients/console/${name}.test.ts`),
  );
  const tests = files.flatMap((text) => [...text.matchAll(/test\("([^"]+)"/g)].map(([, name]) => name as string));
  expect([...named].sort()).toEqual([...tests].sort());
});
