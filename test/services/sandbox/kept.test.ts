import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Kept } from "../../../services/sandbox/kept.js";
import { startSandbox } from "../../../services/sandbox/start.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sallyport-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("what changed is there after a close, and nothing is written where nothing did", async () => {
  const file = join(dir, "sandbox/cti");
  const state = { things: new Map([["a", { n: 1 }]]), at: new Date(0) };
  const first = new Kept<typeof state>(file);
  expect(first.before()).toBeUndefined();
  first.follow(() => state);
  await first.close();
  expect(new Kept(file).before()).toBeUndefined();
  state.things.set("b", { n: 2 });
  first.changed();
  await first.close();
  expect(new Kept(file).before()).toEqual(state);
});

test("what cannot be read is told in one line, with the file to remove", () => {
  const file = join(dir, "cti");
  writeFileSync(file, "torn");
  expect(() => new Kept(file).before()).toThrow(
    new RegExp(`^the data of a built-in platform in ${file} .*: remove the file .*$`),
  );
});

test.each(["cti", "aev", "grc"] as const)(
  "%s has its seeded objects where nothing is kept, and writes none of them",
  async (name) => {
    const file = join(dir, name);
    const sandbox = await startSandbox(name, { host: "127.0.0.1", port: 0, trust: "http://127.0.0.1:9", file });
    await sandbox.close();
    expect(() => readFileSync(file)).toThrow("ENOENT");
  },
);
