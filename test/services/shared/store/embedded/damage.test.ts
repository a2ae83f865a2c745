import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { checkDataFile } from "../../../../../services/shared/store/embedded/integrity.js";
import { SPEC } from "./damaged.js";
import { runScript } from "./processes.js";

const CASES = 120;
let dir: string;

/** A store with trees of several levels, values with pages of their own, and free pages. */
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "damage-"));
  const store = await openEmbeddedStore(join(dir, "good"));
  await store.ensure([SPEC]);
  const things = store.collection<{ _id: string; kind: string; text: string }>(SPEC.name);
  const thing = (i: number) => ({
    _id: `thing-${i}`,
    kind: `kind ${i % 7}`,
    text: "x".repeat(i % 10 === 0 ? 20_000 : i),
  });
  await things.insertMany(Array.from({ length: 600 }, (_, i) => thing(i)));
  await things.deleteMany({ kind: "kind 3" });
  await things.updateMany({ kind: "kind 4" }, { $set: { text: "y".repeat(9_000) } });
  await store.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const data = (name: string): string => join(dir, name, "main", "data.mdb");

function copyOf(name: string): string {
  mkdirSync(join(dir, name, "main"), { recursive: true });
  copyFileSync(data("good"), data(name));
  return data(name);
}

test("a store that is whole is not refused", () => {
  expect(() => checkDataFile(data("good"))).not.toThrow();
});

test.each([
  ["cut within its head", 100],
  ["cut after its first head", 8_192],
  ["cut in its middle", 600_000],
])("a file that is %s is told in one line, with what to do", async (_what, bytes) => {
  truncateSync(copyOf("cut"), bytes);
  const opening = openEmbeddedStore(join(dir, "cut"));
  await expect(opening).rejects.toThrow(/^the store file .*data\.mdb is damaged: .*restore a backup.*$/);
});

test("an empty file and another's file are told apart from damage or refused, never opened as they are", async () => {
  mkdirSync(join(dir, "strange", "main"), { recursive: true });
  writeFileSync(data("strange"), "this is not a store".repeat(1_000));
  await expect(openEmbeddedStore(join(dir, "strange"))).rejects.toThrow(/is damaged: its meta page/);
  truncateSync(data("strange"), 0);
  const store = await openEmbeddedStore(join(dir, "strange"));
  await store.close();
});

test("whatever is cut or changed in a file, it is opened or refused in one line, and never ends the process", async () => {
  const child = await runScript("damaged.ts", dir, String(CASES));
  const signal = new Promise((resolve) => child.once("exit", (_code, why) => resolve(why)));
  const [said, complaint] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  const last = said.trim().split("\n").at(-1);
  expect([await signal, last], complaint).toEqual([null, expect.stringMatching(/^done: [1-9]/)]);
});
