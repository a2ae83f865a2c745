import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { RootDatabase } from "lmdb";
import { gauge } from "../../metrics/metrics.js";
import { type Log, silentLog } from "../../process/log.js";
import { migrate, SCHEMA_VERSIONS } from "../migrations.js";
import type { Base, CollectionSpec, DocCollection, Store, StorePlace, Write } from "../store.js";
import { EmbeddedCollection } from "./collection.js";
import { inOneCommit } from "./commit.js";
import { everyOne, fillIndexes, type Indexed, makeDatabases, openIndexes } from "./declared-indexes.js";
import { createDiskProbe, type DiskProbe } from "./disk-probe.js";
import { catalogueOf, closeEnvironment, documentsOf, openEnvironment } from "./environment.js";
import { JournalMark } from "./journal-mark.js";
import { JournaledCollection } from "./journaled-collection.js";
import { type Lock, lockDirectory } from "./lock.js";
import { Records } from "./records.js";
import { Replacements } from "./replacements.js";
import { sweep } from "./sweeper.js";

/** What may be chosen of an embedded store. */
export interface EmbeddedOptions {
  /** Hears of queries that no index covers, and of failing sweeps. */
  readonly log?: Log;
  /** How often expired documents are deleted, in milliseconds. */
  readonly sweepEveryMs?: number;
  /** How often it is tried whether the disk takes writes, in milliseconds. */
  readonly probeEveryMs?: number;
}

const journaled = gauge(
  "sallyport_journal_records",
  "Documents that are on disk in a journal, and not in their collection yet: no more are taken above 20,000, of replaced ones above 2,000.",
  ["collection"],
);

/** Directories open in this process; the lock cannot tell a process from itself. */
const opened = new Set<string>();

/**
 * Opens the store that lives in a directory, creating it when it is not there.
 * The directory must be on a local disk. Throws when another process, or this
 * one, has it open.
 */
export async function openEmbeddedStore(dir: string, options: EmbeddedOptions = {}): Promise<Store> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = await realpath(dir);
  if (opened.has(path)) throw new Error(`the data directory ${dir} is already open in this process; share its store`);
  const main = openEnvironment(join(path, "main"));
  opened.add(path);
  let [lock, probe]: [Lock?, DiskProbe?] = [];
  try {
    lock = await lockDirectory(path, main);
    probe = await createDiskProbe(path, options.probeEveryMs);
    const replacements = await Replacements.open(join(path, "main"), main, (error) =>
      (options.log ?? silentLog).error(
        { err: error },
        "replaced documents cannot be put into the store; they are kept in a journal",
      ),
    );
    return new EmbeddedStore(path, main, { lock, probe, replacements }, options);
  } catch (error) {
    opened.delete(path);
    await probe?.close();
    await closeEnvironment(main);
    await lock?.release();
    throw error;
  }
}

class EmbeddedStore implements Store {
  readonly isShared = false;

  readonly #environments: Map<"main" | "traces", RootDatabase>;
  readonly #collections = new Map<string, EmbeddedCollection>();
  readonly #journaled = new Map<string, JournaledCollection>();
  readonly #log: Log;
  readonly #sweeper: NodeJS.Timeout;
  #sweeping: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;
  readonly #endReading: () => void;

  constructor(
    private readonly dir: string,
    main: RootDatabase,
    private readonly own: { readonly lock: Lock; readonly probe: DiskProbe; readonly replacements: Replacements },
    options: EmbeddedOptions,
  ) {
    this.#environments = new Map([["main", main]]);
    this.#log = options.log ?? silentLog;
    this.#sweeper = setInterval(() => {
      this.#sweeping = this.#sweeping.then(() => this.#sweep());
    }, options.sweepEveryMs ?? 60_000).unref();
    this.#endReading = journaled.read(() => [
      ...[...this.#journaled].map(([name, { size }]) => ({ labels: [name], value: size })),
      { labels: ["replaced"], value: own.replacements.size },
    ]);
  }

  collection<T extends Base>(name: string): DocCollection<T> {
    const collection = this.#collections.get(name);
    if (!collection) throw new Error(`collection ${name} is not declared; pass it to ensure first`);
    return (this.#journaled.get(name) ?? collection) as unknown as DocCollection<T>;
  }

  /** The steps of all collections share their commits: each commit waits for the disk. */
  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    const all = [SCHEMA_VERSIONS, ...specs];
    const rootOf = ({ environment = "main" }: CollectionSpec): RootDatabase => this.#environment(environment);
    makeDatabases(all, rootOf);
    const opened = all.map((spec) => this.#open(spec, rootOf(spec)));
    for (const { collection, indexes } of opened) {
      await openIndexes(indexes);
      this.#collections.set(indexes.spec.name, collection);
    }
    // Before new indexes are filled: what a unique one is of may be a field that a migration names.
    await everyOne(specs.map((spec) => migrate(this, spec)));
    await everyOne(opened.map(({ indexes }) => fillIndexes(indexes)));
    for (const { collection, indexes } of opened) {
      const { spec } = indexes;
      if (spec.journaled && !this.#journaled.has(spec.name)) {
        this.#journaled.set(spec.name, await this.#openJournal(collection, spec));
      }
    }
  }

  #open(
    spec: CollectionSpec,
    root: RootDatabase,
  ): { readonly collection: EmbeddedCollection; readonly indexes: Indexed } {
    const { name, environment = "main" } = spec;
    // What a thread writes too is never replaced without a transaction.
    const replacements = environment === "main" ? this.own.replacements : undefined;
    const collection =
      this.#collections.get(name) ??
      new EmbeddedCollection(spec, new Records(root, documentsOf(root, spec), name, replacements), this.#log);
    return { collection, indexes: { spec, records: collection.records, root, catalogue: catalogueOf(root) } };
  }

  #openJournal(
    collection: EmbeddedCollection,
    { name, environment = "main" }: CollectionSpec,
  ): Promise<JournaledCollection> {
    return JournaledCollection.open(join(this.dir, environment), collection, {
      mark: new JournalMark(this.#environment(environment), name),
      failed: (error) =>
        this.#log.error({ err: error, collection: name }, "a journal cannot be put into its collection; it is kept"),
    });
  }

  inOrder(writes: readonly Write[]): Promise<void> {
    return this.own.replacements.heldWhile(() => inOneCommit(writes));
  }

  async ping(): Promise<void> {
    if (this.#closed) throw new Error("the store is closed");
  }

  unwritable(): string | undefined {
    return this.own.probe.refusal();
  }

  place(collections: readonly string[]): StorePlace {
    for (const name of collections) {
      if (this.#journaled.has(name)) throw new Error(`collection ${name} is journaled, so that one thread writes it`);
      this.#collections.get(name)?.records.share();
    }
    return { dataDir: this.dir };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#endReading();
    await this.#sweeping;
    for (const journaled of this.#journaled.values()) await journaled.close();
    await this.own.replacements.close();
    await this.own.probe.close();
    for (const environment of this.#environments.values()) await closeEnvironment(environment);
    await this.own.lock.release();
    opened.delete(this.dir);
  }

  #environment(name: "main" | "traces"): RootDatabase {
    const environment = this.#environments.get(name) ?? openEnvironment(join(this.dir, name));
    this.#environments.set(name, environment);
    return environment;
  }

  async #sweep(): Promise<void> {
    for (const collection of this.#collections.values()) {
      if (this.#closed) return;
      await sweep(collection.records).catch((error: unknown) =>
        this.#log.error({ err: error, collection: collection.spec.name }, "expired documents cannot be deleted"),
      );
    }
  }
}
