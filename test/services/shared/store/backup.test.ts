import { fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backUpStore, readBackup } from "../../../../services/shared/store/embedded/backup.js";
import { openEmbeddedStore } from "../../../../services/shared/store/embedded/embedded.js";
import { bundled } from "../../../support/bundled.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "backup-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("a copy taken while another process writes holds every write acknowledged before, and none in halves", async () => {
  const data = join(root, "data");
  const writer = fork(await bundled(new URL("backup-writer.ts", import.meta.url)), [data], {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    let acknowledged = 0;
    writer.on("message", (n: number) => {
      acknowledged = n;
    });
    await expect.poll(() => acknowledged, { timeout: 30_000 }).toBeGreaterThan(500);
    for (const round of [1, 2, 3]) {
      const before = acknowledged;
      const to = join(root, `copy${round}`);
      await backUpStore(data, to);
      expect((await readBackup(to)).files.map(({ name }) => name)).toEqual([
        "main/_replaced.0.journal",
        "main/_replaced.1.journal",
        "main/notes.0.journal",
        "main/notes.1.journal",
        "main/data.mdb",
        "traces/data.mdb",
      ]);
      const copy = join(root, `opened${round}`);
      cpSync(to, copy, { recursive: true });
      const store = await openEmbeddedStore(copy);
      await store.ensure([
        { name: "pairs", indexes: [{ name: "n", key: { n: 1 } }] },
        { name: "notes", journaled: true, indexes: [] },
        { name: "counters", indexes: [] },
        { name: "spans", environment: "traces", indexes: [] },
      ]);
      const pairs = await store.collection<{ _id: string; n: number }>("pairs").find({}).toArray();
      const notes = await store.collection<{ _id: string; n: number }>("notes").find({}).toArray();
      const counter = await store.collection<{ _id: string; n: number }>("counters").findOne({ _id: "c" });
      await store.close();
      // A replacement is in the copy if a later insertion is, whichever way each of them went.
      const newest = Math.max(...pairs.map(({ n }) => n));
      expect(counter?.n).toBeGreaterThanOrEqual(newest - 20);
      for (const documents of [pairs, notes]) {
        const numbers = new Set(documents.map(({ n }) => n));
        expect(Array.from({ length: before }, (_, i) => i + 1).filter((n) => !numbers.has(n))).toEqual([]);
      }
    }
    expect(acknowledged).toBeGreaterThan(500);
  } finally {
    writer.kill("SIGKILL");
    await once(writer, "exit");
  }
});

test("it is its owner's alone, and holds the store and nothing beside it", async () => {
  const data = join(root, "data");
  const store = await openEmbeddedStore(data);
  await store.ensure([{ name: "pairs", indexes: [] }]);
  writeFileSync(join(data, "secrets-key"), "secret");
  writeFileSync(join(data, "service-key"), "secret");
  const to = join(root, "copy");
  await backUpStore(data, to);
  expect(readdirSync(to).sort()).toEqual(["main", "manifest.json"]);
  expect(readdirSync(join(to, "main")).sort()).toEqual(["_replaced.0.journal", "_replaced.1.journal", "data.mdb"]);
  expect([to, join(to, "main"), join(to, "main/data.mdb")].map((path) => statSync(path).mode & 0o77)).toEqual([
    0, 0, 0,
  ]);
  await expect(backUpStore(data, to)).rejects.toThrow(/already exists/);
  await store.close();
});

test("what is no backup, or no longer whole, is told in one line", async () => {
  const data = join(root, "data");
  const store = await openEmbeddedStore(data);
  await store.close();
  await expect(readBackup(data)).rejects.toThrow(/is not a backup/);
  await expect(backUpStore(root, join(root, "x"))).rejects.toThrow(/no embedded store in .*MongoDB/);
  expect(existsSync(join(root, "x.part"))).toBe(false);
  const to = join(root, "copy");
  await backUpStore(data, to);
  const file = join(to, "main/data.mdb");
  const bytes = readFileSync(file);
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  writeFileSync(file, bytes);
  await expect(readBackup(to)).rejects.toThrow(/damaged/);
  rmSync(file);
  await expect(readBackup(to)).rejects.toThrow(/missing/);
});
