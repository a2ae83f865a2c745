import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { copyStore, everyCollection } from "../../../services/launcher/copy-store.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { openMongoStore } from "../../../services/shared/store/mongo.js";
import type { Base } from "../../../services/shared/store/store.js";
import { type MongoJavaServer, missing, startMongoJavaServer } from "../../support/mongo-java-server/server.js";

// The MongoDB here is mongo-java-server, which keeps everything in memory.

const dirs: string[] = [];
let server: MongoJavaServer | undefined;

function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "copy-"));
  dirs.push(dir);
  return dir;
}

afterEach(() => {
  server?.stop();
  server = undefined;
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** Values of every kind that a store keeps. */
const DOCUMENTS = [
  {
    _id: "a",
    text: "ü € 😀",
    number: 1.5,
    whole: 3,
    negative: -7,
    none: null,
    yes: true,
    when: new Date(1_700_000_000_123),
  },
  {
    _id: "b",
    bytes: Buffer.from([0, 255, 10]),
    list: [1, "two", [3, null]],
    nested: { x: { y: Buffer.alloc(3) }, z: [] },
  },
  { _id: "c", large: 2 ** 52, small: 2 ** 31, tiny: 1e-300 },
];

async function filledDir(): Promise<string> {
  const dir = newDir();
  const store = await openEmbeddedStore(dir);
  await store.ensure(await everyCollection());
  await store.collection<Base>("run_steps").insertMany(DOCUMENTS);
  // More than are written at a time, and through a journal.
  await store
    .collection<Base>("audit")
    .insertMany(Array.from({ length: 1_203 }, (_, i) => ({ _id: String(i).padStart(6, "0") })));
  await store.collection<Base>("spans").insertOne({ _id: "s" });
  await store.close();
  return dir;
}

describe.skipIf(missing !== undefined)("with MongoDB", () => {
  test("every record is copied into MongoDB and back, equal field by field", async () => {
    const dataDir = await filledDir();
    server = await startMongoJavaServer();
    const there = await copyStore({ dataDir, mongodbUri: server.uri }, "mongodb");
    expect(there.digests).toMatchObject({
      run_steps: { documents: 3 },
      audit: { documents: 1_203 },
      spans: { documents: 1 },
    });

    const mongo = await openMongoStore(server.uri);
    const found = await mongo
      .collection<Base>("run_steps")
      .find({}, { sort: { _id: 1 } })
      .toArray();
    await mongo.close();
    expect(found).toEqual(DOCUMENTS);

    const other = newDir();
    const back = await copyStore({ dataDir: other, mongodbUri: server.uri }, "embedded");
    expect(back.digests).toEqual(there.digests);
    expect(readdirSync(other)).not.toContain("copying");
    const store = await openEmbeddedStore(other);
    await store.ensure(await everyCollection());
    expect(
      await store
        .collection<Base>("run_steps")
        .find({}, { sort: { _id: 1 } })
        .toArray(),
    ).toEqual(DOCUMENTS);
    expect(await store.collection<Base>("audit").countDocuments()).toBe(1_203);
    await store.close();
  });

  test("a target that is not empty is refused, and nothing is changed", async () => {
    const dataDir = await filledDir();
    server = await startMongoJavaServer();
    const mongo = await openMongoStore(server.uri);
    await mongo.collection<Base>("users").insertOne({ _id: "u" });
    const both = { dataDir, mongodbUri: server.uri };
    await expect(copyStore(both, "mongodb")).rejects.toThrow("has documents in users: copy into an empty database");
    expect(await mongo.collection<Base>("audit").countDocuments()).toBe(0);
    await mongo.close();
    await expect(copyStore(both, "embedded")).rejects.toThrow("has a store already");
    await expect(copyStore({ dataDir: newDir(), mongodbUri: server.uri }, "embedded")).rejects.toThrow(
      "has no store of this",
    );
  });

  test("a copy that fails leaves the target empty", async () => {
    const dataDir = await filledDir();
    server = await startMongoJavaServer();
    const store = await openEmbeddedStore(dataDir);
    await store.ensure(await everyCollection());
    // Longer than a document of MongoDB may be.
    await store.collection<Base & { text: string }>("spans").insertOne({ _id: "t", text: "x".repeat(17 << 20) });
    await store.close();
    await expect(copyStore({ dataDir, mongodbUri: server.uri }, "mongodb")).rejects.toThrow();
    const mongo = await openMongoStore(server.uri);
    for (const { name } of await everyCollection())
      expect(await mongo.collection<Base>(name).countDocuments(), name).toBe(0);
    await mongo.close();
  });
});

test("a data directory that a service has open is refused, and so is one without a store", async () => {
  const dataDir = await filledDir();
  const store = await openEmbeddedStore(dataDir);
  const mongodbUri = "mongodb://127.0.0.1:1";
  await expect(copyStore({ dataDir, mongodbUri }, "mongodb")).rejects.toThrow("open");
  await store.close();
  const empty = newDir();
  await expect(copyStore({ dataDir: empty, mongodbUri }, "mongodb")).rejects.toThrow("has no store");
  await expect(copyStore({ dataDir: empty, mongodbUri: undefined }, "mongodb")).rejects.toThrow("MONGODB_URI");
  await expect(copyStore({ dataDir: empty, mongodbUri }, "sqlite")).rejects.toThrow("mongodb or embedded");
  expect(existsSync(join(empty, "main"))).toBe(false);
});

test("every collection that a source declares is copied", async () => {
  const folder = join(import.meta.dirname, "../../../services");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !/^(?:shared|sandbox)\b/.test(file),
  );
  const declared = sources.flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/: CollectionSpec = \{\s+name: "(\w+)"/g)].map(
      ([, name]) => name,
    ),
  );
  expect(declared.length).toBeGreaterThan(8);
  const copied = new Set((await everyCollection()).map(({ name }) => name));
  expect(declared.filter((name) => !copied.has(name as string))).toEqual([]);
});
