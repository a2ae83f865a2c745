import { mkdirSync, readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { deserialize, serialize } from "node:v8";

/** How long after a change it is written, with those that came meanwhile, in milliseconds. */
const DELAY_MS = 1_000;
/** Raised when a state of before would not be understood any more. */
const FORMAT = 1;

/**
 * The state of a built-in platform over restarts: one file, replaced as a whole
 * within a second of a change and when the platform ends. A process that is
 * killed loses that second, and nothing of what was before.
 */
export class Kept<State> {
  private take: (() => State) | undefined;
  private clock: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  /** @param file where it is kept; nowhere where left out. */
  constructor(private readonly file: string | undefined) {}

  /** What was kept before; undefined where nothing was. @throws Error in one line, where it cannot be read. */
  before(): State | undefined {
    if (this.file === undefined) return undefined;
    try {
      const { format, state } = deserialize(readFileSync(this.file)) as { format: number; state: State };
      if (format !== FORMAT) throw new Error(`its format is ${format}, and this version reads ${FORMAT}`);
      return state;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      throw new Error(
        `the data of a built-in platform in ${this.file} cannot be read (${message}): remove the file to start again with the sample data`,
      );
    }
  }

  /** Keeps from now on what this gives. */
  follow(take: () => State): void {
    this.take = take;
  }

  /** Something may have changed. */
  changed(): void {
    if (this.file !== undefined) this.clock ??= setTimeout(() => this.write(), DELAY_MS);
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    if (this.clock !== undefined) this.write();
    await this.writing;
  }

  private write(): void {
    const { file, take } = this;
    clearTimeout(this.clock);
    this.clock = undefined;
    if (file === undefined || take === undefined) return;
    const bytes = serialize({ format: FORMAT, state: take() });
    // Where the disk takes none, the next change is tried again.
    this.writing = this.writing.then(() => replace(file, bytes)).catch(() => undefined);
  }
}

async function replace(path: string, bytes: Buffer): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = await open(`${path}.part`, "w", 0o600);
  try {
    await draft.writeFile(bytes);
    await draft.datasync();
  } finally {
    await draft.close();
  }
  await rename(`${path}.part`, path);
}
