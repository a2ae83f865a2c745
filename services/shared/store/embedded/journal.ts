import {
  close,
  constants,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  write,
} from "node:fs";
import { promisify } from "node:util";
import type { GroupCommit } from "../../process/group-commit.js";
import { unavailable } from "../../rpc/errors.js";
import { type Entry, type Frame, frameOf, framesIn } from "./journal-frame.js";
import type { JournalMark } from "./journal-mark.js";
import { toDisk } from "./to-disk.js";

/** How long entries wait for others before they go where they belong, in milliseconds. */
const APPLY_MS = 100;
/** How long after a failure it is tried again, in milliseconds. */
const AGAIN_MS = 1_000;
/** What a file has before the other one has its turn. */
const TURN_BYTES = 1 << 20;
/** A write ends once its bytes are on disk: one system call, where a write and a sync are two. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_DSYNC;

const [writeTo, closeFile] = [promisify(write), promisify(close)];

/** Where the entries of a journal go. */
export interface JournalOptions {
  /** The files of the journal. */
  readonly paths: readonly [string, string];
  /** The mark of the last entry that is where it belongs. */
  readonly mark: JournalMark;
  /** How many may wait: more wait until these are where they belong, and are refused if they cannot go there. */
  readonly most: number;
  /** Waits for those who share a write; left out if those who append wait for each other themselves. */
  readonly groupCommit?: GroupCommit;
  /** How many go there at a time. */
  readonly atOnce: number;
  /**
   * Begins at once a transaction that puts entries where they belong, which is done only if `move` says so: it moves the
   * mark, in the same transaction. Resolved means on disk.
   */
  readonly apply: (entries: readonly Entry[], move: () => boolean) => Promise<unknown>;
  /** Hears of entries in the turn in which they are known to be on disk. */
  readonly written?: (entries: readonly Entry[]) => void;
  /** Hears why entries cannot go where they belong; they are kept, and it is tried again. */
  readonly failed: (error: unknown) => void;
}

/** A file, where its next frame goes, and the number of the last entry in it. */
interface Part {
  readonly fd: number;
  length: number;
  last: number;
}

/** Entries that somebody waits for. */
interface Queued {
  readonly entries: readonly Entry[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Entries that are on disk and not where they belong yet. To append them to a file costs a fraction of a commit; they go
 * where they belong many at a time, and after a crash at the next start. A file whose entries have gone is written over
 * from its beginning: its blocks are there already, so that the disk writes the bytes and nothing else. While one file is
 * waited for, the other takes what comes.
 */
export class Journal {
  readonly #parts: [Part, Part];
  #queued: Queued[] = [];
  #isWriting = false;
  /** The last that was appended; never rejects. */
  #latest: Promise<void> = Promise.resolve();
  /** On disk here, from the one after the last that was applied on; the first of them are on their way. */
  readonly #waiting: Entry[] = [];
  #begun = 0;
  #applied: number;
  readonly #applying = new Set<Promise<void>>();
  /** Another number after each failure: what was on its way then begins again. */
  #attempt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(private readonly options: JournalOptions) {
    this.#parts = options.paths.map((path) => ({ fd: openSync(path, FLAGS, 0o600), length: 0, last: 0 })) as [
      Part,
      Part,
    ];
    this.#applied = options.mark.last;
  }

  /** Opens a journal, and puts what it has where it belongs first. */
  static async open(folder: string, options: JournalOptions): Promise<Journal> {
    const files = options.paths.filter((path) => existsSync(path) && statSync(path).size > 0);
    const frames = files.flatMap((path) => framesIn(readFileSync(path))).sort((a, b) => a.first - b.first);
    const journal = new Journal(options);
    journal.#waiting.push(...entriesAfter(options.mark.last, frames));
    await journal.settle();
    // What was not taken must never seem to go on from new frames.
    for (const path of files) {
      truncateSync(path);
      toDisk(path);
    }
    toDisk(folder);
    return journal;
  }

  /** How many entries are on disk here, and not where they belong yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /**
   * Appends entries; resolves once they are on disk.
   *
   * @throws ConnectError unavailable, if the disk takes no more.
   */
  async append(entries: readonly Entry[]): Promise<void> {
    if (this.#waiting.length >= this.options.most) await this.settle();
    const done = new Promise<void>((resolve, reject) => this.#queued.push({ entries, resolve, reject }));
    this.#latest = done.catch(() => undefined);
    if (!this.#isWriting) {
      this.#isWriting = true;
      void this.#writeQueued();
    }
    return done;
  }

  /** Begins at once to put where they belong all entries that are on disk here. Resolves when they are there. */
  async flush(): Promise<void> {
    while (this.#begun < this.#waiting.length) this.#begin();
    await Promise.all(this.#applying);
  }

  /** Resolves once what was appended before is where it belongs. @throws if it cannot go there. */
  async settle(): Promise<void> {
    await this.#latest;
    await this.flush();
  }

  /** What cannot go where it belongs now does so at the next start; if nothing is left, that start has nothing to read. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const isEmpty = await this.settle().then(() => true, this.options.failed);
    for (const { fd } of this.#parts) {
      if (isEmpty) ftruncateSync(fd);
      await closeFile(fd);
    }
  }

  async #writeQueued(): Promise<void> {
    await this.options.groupCommit?.gather();
    for (let some = this.#taken(); some.length > 0; some = this.#taken()) {
      const entries = some.length === 1 ? (some[0] as Queued).entries : some.flatMap((one) => one.entries);
      try {
        await this.#write(entries);
      } catch (error) {
        for (const { reject } of some) reject(full(error));
        continue;
      }
      this.#waiting.push(...entries);
      this.options.written?.(entries);
      for (const { resolve } of some) resolve();
      this.#applyAfter(APPLY_MS);
    }
    this.#isWriting = false;
  }

  #taken(): Queued[] {
    const some = this.#queued;
    this.#queued = [];
    if (some.length > 0) this.options.groupCommit?.share(some.length);
    return some;
  }

  /** A frame that was not written whole is written over by the next. */
  async #write(entries: readonly Entry[]): Promise<void> {
    const part = this.#partToWrite();
    const first = this.#applied + this.#waiting.length + 1;
    const frame = frameOf({ first, entries });
    const { bytesWritten } = await writeTo(part.fd, frame, 0, frame.length, part.length);
    if (bytesWritten < frame.length) throw new Error(`${bytesWritten} of ${frame.length} bytes were written`);
    part.length += frame.length;
    part.last = first + entries.length - 1;
  }

  #partToWrite(): Part {
    const [part, other] = this.#parts;
    if (part.last <= this.#applied) part.length = 0;
    if (part.length < TURN_BYTES || other.last > this.#applied) return part;
    other.length = 0;
    this.#parts.reverse();
    return other;
  }

  #applyAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch((error: unknown) => {
        this.options.failed(error);
        this.#applyAfter(AGAIN_MS);
      });
    }, ms).unref();
  }

  #begin(): void {
    const entries = this.#waiting.slice(this.#begun, this.#begun + this.options.atOnce);
    const first = this.#applied + this.#begun + 1;
    const attempt = this.#attempt;
    this.#begun += entries.length;
    const move = (): boolean => this.options.mark.move(first, first + entries.length - 1);
    const done = this.options.apply(entries, move).then(
      () => {
        // None is there without those before it; what was begun anew after a failure may be there twice over.
        const more = Math.max(0, first + entries.length - 1 - this.#applied);
        this.#waiting.splice(0, more);
        this.#begun = Math.max(0, this.#begun - more);
        this.#applied += more;
      },
      (error: unknown) => {
        if (attempt === this.#attempt) {
          this.#attempt++;
          this.#begun = 0;
          // What was on its way behind it fails too, and goes again.
          this.#applying.clear();
        }
        throw error;
      },
    );
    this.#applying.add(done);
    const ended = (): void => void this.#applying.delete(done);
    done.then(ended, ended);
  }
}

/** The entries of frames that go on from a number, up to the first that does not. */
function entriesAfter(last: number, frames: readonly Frame[]): Entry[] {
  const entries: Entry[] = [];
  for (const frame of frames) {
    const next = last + entries.length + 1;
    if (frame.first > next) break;
    entries.push(...frame.entries.slice(next - frame.first));
  }
  return entries;
}

function full(cause: unknown): Error {
  return unavailable("the store cannot write to its disk now; ask an administrator to free space on it", cause);
}
