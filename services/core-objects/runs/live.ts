import { setTimeout as sleep } from "node:timers/promises";
import { showHidden } from "../../shared/tools/codec/hidden-characters.js";
import type { Redactor } from "./redact.js";

// The text of a model while it is written, for those who follow its run in this process. It is kept once for a run,
// however many follow it, and no longer than the request goes on: then the step has it.

/** Characters that are kept of a text: who reads slower than it comes misses what was before. */
const KEPT = 32 * 1024;
/** The end of a text is held back, since it may be the beginning of what is secret: shorter ones are not looked for. */
const HELD_BACK = 3;
const NONE = { text: "", at: 0 } as const;

/** What a model writes at the moment. */
export class LiveText {
  /** What is shown, from `#from` on. */
  #text = "";
  #from = 0;
  /** What has come and is not shown yet. */
  #held = "";
  readonly #waiting = new Set<() => void>();

  constructor(private readonly redactor: Redactor) {}

  /** More of it has come. */
  add(piece: string): void {
    const redacted = this.redactor.redact(this.#held + piece);
    const safe = this.redactor.redactBeginning(redacted).length;
    const end = Math.max(0, Math.min(safe, redacted.length - HELD_BACK));
    // A character of two halves is not parted.
    const shown = /[\ud800-\udbff]/.test(redacted.charAt(end - 1)) ? end - 1 : end;
    this.#held = redacted.slice(shown);
    this.#text += showHidden(redacted.slice(0, shown));
    const over = this.#text.length - KEPT;
    if (over > 0) {
      this.#text = this.#text.slice(over);
      this.#from += over;
    }
    for (const wake of this.#waiting) wake();
  }

  /** What has come since a position, and the position after it. */
  since(position: number): { readonly text: string; readonly at: number } {
    const at = this.#from + this.#text.length;
    return { text: this.#text.slice(Math.max(0, position - this.#from)), at };
  }

  /** Resolves when more is there, or after so many milliseconds. */
  async more(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }
}

/** What the models of all runs of this process write, by run. */
export class LiveTexts {
  readonly #texts = new Map<string, LiveText>();

  of(run: string): LiveText | undefined {
    return this.#texts.get(run);
  }

  /** A model is asked for a run. @returns what it writes, and what ends that. */
  begin(run: string, redactor: Redactor): { readonly live: LiveText; end(): void } {
    const live = new LiveText(redactor);
    this.#texts.set(run, live);
    return {
      live,
      end: () => {
        if (this.#texts.get(run) === live) this.#texts.delete(run);
      },
    };
  }
}

/** Reads what a run's models write, from wherever it was read before. */
export class LiveReader {
  #of: LiveText | undefined;
  #at = 0;

  constructor(
    private readonly texts: LiveTexts,
    private readonly run: string,
  ) {}

  /** What has come since. `written`: characters of this answer so far. */
  read(): { readonly text: string; readonly written: number } {
    const now = this.texts.of(this.run);
    if (now !== this.#of) this.#at = 0;
    this.#of = now;
    const { text, at } = now?.since(this.#at) ?? NONE;
    this.#at = at;
    return { text, written: at };
  }

  /** Resolves when there may be more, or after so many milliseconds. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const more = this.texts.of(this.run)?.more(ms);
    const late = sleep(ms, undefined, { signal });
    await (more === undefined ? late : Promise.race([late, more]));
  }
}
