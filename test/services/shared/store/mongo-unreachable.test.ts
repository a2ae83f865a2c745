import { connect } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { openMongoStore } from "../../../../services/shared/store/mongo.js";
import { missing, startMongoJavaServer } from "../../../support/mongo-java-server/server.js";

/** Whether anything listens there. */
function answers(uri: string): Promise<boolean> {
  const { hostname, port } = new URL(uri);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

test.skipIf(missing)(`operations on a database that has gone are unavailable ${missing ?? ""}`, async () => {
  const server = await startMongoJavaServer();
  const store = await openMongoStore(server.uri, { database: "gone" });
  await store.ensure([{ name: "things", indexes: [] }]);
  const things = store.collection<{ _id: string; n: number }>("things");
  await things.insertMany([1, 2, 3].map((n) => ({ _id: `t${n}`, n })));
  const numbers: number[] = [];
  for await (const { n } of things.find({}).sort({ n: 1 })) numbers.push(n);
  expect(numbers).toEqual([1, 2, 3]);

  server.stop();
  await expect.poll(() => answers(server.uri)).toBe(false);
  const codes = await Promise.all(
    [
      things.findOne({ _id: "t1" }),
      things.find({}).sort({ n: 1 }).toArray(),
      (async () => {
        for await (const _ of things.find({}));
      })(),
      things.insertOne({ _id: "t4", n: 4 }),
      things.insertMany([{ _id: "t5", n: 5 }], { ordered: false }),
      things.bulkWrite([{ updateOne: { filter: { _id: "t1" }, update: { $set: { n: 5 } } } }]),
    ].map((failing) =>
      failing.then(
        () => undefined,
        (error: unknown) => ConnectError.from(error).code,
      ),
    ),
  );
  expect(codes).toEqual(codes.map(() => Code.Unavailable));
  await store.close();
});
