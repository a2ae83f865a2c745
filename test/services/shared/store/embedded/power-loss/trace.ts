// What a process did to its files, as strace says it.

/** One thing of it, in the order in which they happened. */
export type Step =
  | {
      readonly what: "written";
      readonly file: string;
      readonly at: number;
      readonly bytes: Buffer;
      readonly isSure: boolean;
    }
  | { readonly what: "cut"; readonly file: string; readonly length: number }
  | { readonly what: "removed"; readonly file: string }
  /** Everything that was written before is on disk once it ended: they have the same number. */
  | { readonly what: "sync begun"; readonly file: string; readonly sync: number }
  | { readonly what: "sync ended"; readonly file: string; readonly sync: number }
  | { readonly what: "said"; readonly line: string };

/** How strace is to be run. */
export const STRACE = [
  ...["-f", "-y", "-xx", "-s", "9000000", "-e"],
  "trace=openat,close,write,writev,pwrite64,pwritev,pwritev2,lseek,fsync,fdatasync,msync,ftruncate,unlink,rename,renameat2",
] as const;

/** Files that say who has the store open: after a loss of power nobody has. */
const NOT_KEPT = /(?:^|\/)(?:lock\.mdb|.*\.lock|lock)$/;

/** Lines of writer.ts. */
const SAID = /^(?:\d+ \d+ \d+\n)+$/;

/** The steps in the files of a folder, and the lines of standard output. @throws Error for a call that it cannot follow. */
export function stepsIn(trace: string, folder: string): readonly Step[] {
  const reading = new Reading(folder);
  for (const line of trace.split("\n")) {
    const [, pid, rest] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid !== undefined && rest !== undefined) reading.take(pid, rest);
  }
  return reading.steps;
}

class Reading {
  readonly steps: Step[] = [];
  /** The beginnings of calls that have not ended, by thread. */
  readonly #begun = new Map<string, { readonly text: string; readonly sync: number }>();
  /** Where the next write of a descriptor without a place of its own goes, and those that are on disk when they end. */
  readonly #places = new Map<string, number>();
  readonly #sure = new Set<string>();
  #syncs = 0;

  constructor(private readonly folder: string) {}

  take(pid: string, rest: string): void {
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    if (resumed !== undefined) {
      const begun = this.#begun.get(pid);
      this.#begun.delete(pid);
      if (begun !== undefined) this.#end(begun.text + resumed, begun.sync);
      return;
    }
    const sync = this.#begin(rest);
    const open = /^(.*?)\s*<unfinished \.\.\.>$/.exec(rest)?.[1];
    if (open !== undefined) this.#begun.set(pid, { text: open, sync });
    else this.#end(rest, sync);
  }

  /** What counts from the moment at which it is asked for: what is said may be heard, and a sync is of what was written before. */
  #begin(text: string): number {
    const [, call, fd, path] = /^(\w+)\((\d+)<([^>]*)>/.exec(text) ?? [];
    if (call === "write" && fd === "1") {
      const said = bytesIn(text).toString("latin1");
      // What compiles the writer is a process with an output of its own.
      if (SAID.test(said)) for (const line of said.trim().split("\n")) this.steps.push({ what: "said", line });
    }
    if ((call !== "fsync" && call !== "fdatasync") || path === undefined) return 0;
    const file = this.#own(path);
    if (file === undefined) return 0;
    this.steps.push({ what: "sync begun", file, sync: ++this.#syncs });
    return this.#syncs;
  }

  #end(text: string, sync: number): void {
    const [, call, , result] = /^(\w+)\((.*)\)\s*= (-?\d+)/s.exec(text) ?? [];
    const done = Number(result);
    if (call === undefined || done < 0) return;
    if (call === "openat") this.#opened(text, done);
    else if (call === "unlink" || call.startsWith("rename")) this.#renamed(call, text);
    else this.#used(call, text, done, sync);
  }

  #used(call: string, text: string, done: number, sync: number): void {
    const [, fd, path] = /^\w+\((\d+)<([^>]*)>/.exec(text) ?? [];
    const file = path === undefined ? undefined : this.#own(path);
    if (call === "msync") throw new Error("it writes through memory, which a trace does not show");
    if (fd === undefined || file === undefined) return;
    if (call === "close") this.#sure.delete(fd);
    else if (call === "lseek") this.#places.set(fd, done);
    else if (call.endsWith("sync")) this.steps.push({ what: "sync ended", file, sync });
    else if (call === "ftruncate")
      this.steps.push({ what: "cut", file, length: Number(/, (\d+)\)\s*=/.exec(text)![1]) });
    else this.#written(call, fd, file, text, done);
  }

  #opened(text: string, fd: number): void {
    const [, name, flags] = /^openat\([^"]*"([^"]*)", ([A-Z_|0-9]+)/.exec(text) ?? [];
    const file = name === undefined ? undefined : this.#own(name);
    if (file === undefined) return;
    this.#places.set(String(fd), 0);
    if (/O_D?SYNC/.test(flags!)) this.#sure.add(String(fd));
    else this.#sure.delete(String(fd));
    if (/O_TRUNC/.test(flags!)) this.steps.push({ what: "cut", file, length: 0 });
  }

  #renamed(call: string, text: string): void {
    const files = [...text.matchAll(/"([^"]*)"/g)]
      .map(([, name]) => this.#own(name!))
      .filter((one) => one !== undefined);
    if (call !== "unlink" && files.length > 0) throw new Error(`it renames ${files}`);
    for (const file of files) this.steps.push({ what: "removed", file });
  }

  #written(call: string, fd: string, file: string, text: string, length: number): void {
    const bytes = bytesIn(text).subarray(0, length);
    if (bytes.length !== length) throw new Error(`a ${call} of ${length} bytes shows ${bytes.length}`);
    const isPlaced = call.startsWith("p");
    const place = call === "pwritev2" ? /, (\d+), \w+\)\s*=/ : /, (\d+)\)\s*=/;
    const at = isPlaced ? Number(place.exec(text)![1]) : (this.#places.get(fd) ?? 0);
    if (!isPlaced) this.#places.set(fd, at + length);
    this.steps.push({ what: "written", file, at, bytes, isSure: this.#sure.has(fd) });
  }

  /** A file of the folder that is kept, by its path in it. */
  #own(hex: string): string | undefined {
    const path = hex.replace(/\\x([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
    if (!path.startsWith(`${this.folder}/`) || NOT_KEPT.test(path)) return undefined;
    return path.slice(this.folder.length + 1);
  }
}

/** The bytes of all strings of a call. */
function bytesIn(text: string): Buffer {
  return Buffer.concat(
    [...text.matchAll(/"([^"]*)"/g)].map(([, hex]) => Buffer.from(hex!.replaceAll("\\x", ""), "hex")),
  );
}
