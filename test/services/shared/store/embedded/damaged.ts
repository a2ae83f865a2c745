import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { randomOf } from "../../../../support/random.js";

/** What the store that is damaged holds. */
export const SPEC = { name: "things", indexes: [{ name: "by_kind", key: { kind: 1 } }] } as const;

/** Cuts the file, or changes a few of its bytes: every other time in its heads or in the head of a page. */
function damage(bytes: Buffer, seed: number): Buffer {
  const random = randomOf(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  if (seed % 4 === 0) return bytes.subarray(0, below(bytes.length));
  const changed = Buffer.from(bytes);
  for (let i = below(8); i >= 0; i--) {
    const page = seed % 4 === 1 ? below(2) : below(bytes.length / 8_192);
    changed[page * 8_192 + below(seed % 2 === 1 ? 200 : 8_192)] = below(256);
  }
  return changed;
}

async function use(dir: string): Promise<void> {
  const store = await openEmbeddedStore(dir);
  try {
    await store.ensure([SPEC]);
    const things = store.collection<{ _id: string; kind: string; text: string }>(SPEC.name);
    for (let i = 0; i < 20; i++) await things.insertOne({ _id: `new-${i}`, kind: "new", text: "z".repeat(i * 1_000) });
    await things.deleteMany({ kind: "kind 5" });
    await things.find({}).toArray();
  } finally {
    await store.close();
  }
}

/** Damages so many copies, opens and uses each; says each case before it begins, so that the last line names the culprit. */
async function main(dir: string, cases: number): Promise<void> {
  const good = join(dir, "good", "main", "data.mdb");
  const bytes = readFileSync(good);
  let refused = 0;
  for (let seed = 0; seed < cases; seed++) {
    const at = join(dir, `case-${seed}`);
    mkdirSync(join(at, "main"), { recursive: true });
    copyFileSync(good, join(at, "main", "data.mdb"));
    writeFileSync(join(at, "main", "data.mdb"), damage(bytes, seed));
    process.stdout.write(`case ${seed}\n`);
    try {
      await use(at);
    } catch (error) {
      refused++;
      const { message } = error as Error;
      if (message.includes("\n")) throw error;
    }
    rmSync(at, { recursive: true, force: true });
  }
  process.stdout.write(`done: ${refused} of ${cases} refused\n`);
}

if (/[\\/]damaged[^\\/]*$/.test(process.argv[1] ?? "")) {
  // What a damaged document raises where nobody waits for it is not what is asked here.
  process.on("unhandledRejection", () => undefined);
  await main(process.argv[2] as string, Number(process.argv[3]));
}
