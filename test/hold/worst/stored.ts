import { join } from "node:path";
import { type Database, open } from "lmdb";

/** What a collection holds, with the entries that its indexes hold of it. */
export interface Stored {
  readonly records: number;
  /** Of keys and values, as they are encoded. */
  readonly bytes: number;
}

const ENVIRONMENTS = ["main", "traces"];

/**
 * What the data of a program that has ended holds, by collection. What ships
 * with the product is nobody's and left out.
 */
export async function storedIn(folder: string): Promise<ReadonlyMap<string, Stored>> {
  const found = new Map<string, Stored>();
  for (const environment of ENVIRONMENTS) {
    const root = open({ path: join(folder, environment), maxDbs: 512, readOnly: true, pageSize: 8192 });
    // A database cannot be opened while another is read.
    const names = [...root.getKeys()].map(String);
    const opened = names.map((name) => [name, root.openDB(name, RAW)] as const);
    for (const [name, database] of opened) {
      const [kind, collection = ""] = name.split(":");
      if (kind !== "d" && kind !== "i") continue;
      const before = found.get(collection) ?? { records: 0, bytes: 0 };
      const { records, bytes } = contentOf(database as Database<Buffer, Buffer>, kind === "d");
      found.set(collection, {
        records: before.records + (kind === "d" ? records : 0),
        bytes: before.bytes + bytes,
      });
    }
    await root.close();
  }
  return found;
}

/** How the ids begin of what ships with the product. */
const BUILT_IN = "builtin.";
const RAW = { encoding: "binary", keyEncoding: "binary" } as const;

function contentOf(database: Database<Buffer, Buffer>, holdsRecords: boolean): Stored {
  let [records, bytes] = [0, 0];
  for (const { key, value } of database.getRange()) {
    if (holdsRecords && key.includes(BUILT_IN)) continue;
    records++;
    bytes += key.length + value.length;
  }
  return { records, bytes };
}
