/** How often text is told, in milliseconds. */
const EVERY_MS = 100;
const [BEGINS, ENDS] = ["<think>", "</think>"];

/**
 * Tells the text of an answer while it comes: in pieces that are gathered for a while, however small those are that
 * come, and without the thoughts that stand in front of it.
 */
export class Telling {
  #waiting = "";
  #state: "begun" | "thinking" | "telling" = "begun";
  #afterThoughts = false;
  #timer: NodeJS.Timeout | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly tell: (text: string) => void) {}

  /** More of the text is there. */
  add(text: string): void {
    this.#waiting += text;
    if (this.#state === "thinking") this.#skipThoughts();
    const ms = Math.max(0, this.#toldAt + EVERY_MS - performance.now());
    this.#timer ??= setTimeout(() => this.#flush(), ms);
  }

  /** The text has ended: what waits is told. */
  end(): void {
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#state === "begun") this.#begin();
    if (this.#afterThoughts) this.#waiting = this.#waiting.trimStart();
    if (this.#state !== "telling" || this.#waiting === "") return;
    this.#afterThoughts = false;
    const text = this.#waiting;
    this.#waiting = "";
    this.#toldAt = performance.now();
    this.tell(text);
  }

  #begin(): void {
    const text = this.#waiting.trimStart();
    if (text.length < BEGINS.length && BEGINS.startsWith(text)) return;
    this.#state = text.startsWith(BEGINS) ? "thinking" : "telling";
    if (this.#state === "thinking") this.#skipThoughts();
  }

  #skipThoughts(): void {
    const end = this.#waiting.indexOf(ENDS);
    // The word for their end may come in two pieces.
    if (end === -1) this.#waiting = this.#waiting.slice(-ENDS.length);
    else {
      this.#waiting = this.#waiting.slice(end + ENDS.length);
      this.#state = "telling";
      this.#afterThoughts = true;
    }
  }
}
