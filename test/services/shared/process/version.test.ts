import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { VERSION } from "../../../../services/shared/process/version.js";

test("the program says the version of its package", () => {
  expect(VERSION).toBe((JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version);
});
