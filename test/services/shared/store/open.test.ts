import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../../../../services/shared/process/log.js";
import { openStore } from "../../../../services/shared/store/open.js";
import { missing, startMongoJavaServer } from "../../../support/mongo-java-server/server.js";
import { titled } from "../../../support/titled.js";

test("without a connection string the store lives in the data directory", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "store-"));
  const store = await openStore({ dataDir, log: silentLog });
  await store.ping();
  expect(await readdir(dataDir)).toContain("main");
  await store.close();
  await rm(dataDir, { recursive: true });
});

test.skipIf(missing !== undefined)(
  titled("with one it lives in MongoDB and leaves the directory alone", missing),
  async () => {
    const server = await startMongoJavaServer();
    const dataDir = join(tmpdir(), "never made");
    const store = await openStore({ mongodbUri: server.uri, dataDir, log: silentLog });
    await store.collection("things").insertOne({ _id: "a" });
    const named = await openStore({ mongodbUri: `${server.uri}/sallyport?appName=test`, dataDir, log: silentLog });
    expect(await named.collection("things").findOne({ _id: "a" })).toEqual({ _id: "a" });
    await named.close();
    await expect(readdir(dataDir)).rejects.toThrow("ENOENT");
    await store.close();
    server.stop();
  },
  30_000,
);
