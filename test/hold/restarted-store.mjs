// A store that is opened in a directory and written to, until somebody ends the
// process: what restarts.ts starts. It says how far it is, a word a line.

import { openEmbeddedStore } from "../../services/shared/store/embedded/embedded.ts";

const [dir, how] = process.argv.slice(2);
const say = (word) => process.stdout.write(`${word}\n`);
const SPECS = [
  { name: "things", indexes: [{ name: "by_n", key: { n: 1 }, unique: true }] },
  { name: "others", environment: "traces", indexes: [] },
];

let store;
let ending = false;
const end = async () => {
  ending = true;
  await store?.close();
  process.exit(0);
};
if (how === "closes") process.on("SIGTERM", () => void end());

say("opening");
try {
  store = await openEmbeddedStore(dir);
  if (ending) await end();
  await store.ensure(SPECS);
  const things = store.collection("things");
  const there = await things.countDocuments({});
  say(`open ${there}`);
  if (how === "counts") await end();
  for (let n = there; ; n++) {
    await things.insertOne({ _id: `${n}`, n, text: "x".repeat((n * 977) % 9_000) });
    await store.collection("others").insertOne({ _id: `${process.pid}-${n}`, n });
    if ((await things.findOne({ n }))?._id !== `${n}`) throw new Error(`${n} is not found`);
    say(`wrote ${n}`);
  }
} catch (error) {
  // Whoever reads or writes while the store is closed is told so, in these words.
  if (!ending || !/store is closed|Database is closed/.test(error.message)) throw error;
}
