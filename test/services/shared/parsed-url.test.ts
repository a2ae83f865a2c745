import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parsedUrl } from "../../../services/shared/parsed-url.js";

/** Calls after which V8 has compiled a function. */
const MANY = 50_000;

test("a URL has letters of Latin-1 however often one was asked for", () => {
  let count = 0;
  for (let i = 0; i < MANY; i++) if (parsedUrl("https://bücher.example/Übersicht?q=ä#ö") !== undefined) count++;
  expect(count).toBe(MANY);
});

test("what is no URL is undefined, and a base makes one of a path", () => {
  for (const text of ["", "wiki", "//", "http://", "https://a b", "http://\u0080"])
    expect(parsedUrl(text)).toBeUndefined();
  expect(parsedUrl("/a/../b", "https://wiki.example/c")?.href).toBe("https://wiki.example/b");
});

test("no source asks URL.canParse", () => {
  const root = join(import.meta.dirname, "../../..");
  const asking = ["services", "facade", "clients"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
      .map((path) => join(folder, path))
      .filter((path) => readFileSync(join(root, path), "utf8").includes("canParse(")),
  );
  expect(asking).toEqual([]);
});
