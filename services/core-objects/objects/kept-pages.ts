import type { Message } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import type { Caller } from "../../shared/rpc/call.js";
import type { ListRequest } from "./messages.js";

/** The most rows that are kept of a kind: a row takes 2 to 3 KB of memory. */
const MAX_ROWS = 1_000;

/**
 * Pages of a list that are asked for again while nothing of their collection changes, each for who is shown it: a page
 * is made of the records, the request and the caller alone. Nobody can change a page: other answers are it too.
 */
export class KeptPages {
  readonly #pages = new LRUCache<string, Message>({ maxSize: MAX_ROWS });
  /** The state of the collection that the pages are of. */
  #version: number | undefined;
  readonly #numbers = new WeakMap<Caller, number>();
  #callers = 0;

  /** @param member of a page, which holds its rows. */
  constructor(private readonly member: string) {}

  /** The name of a page. A caller whose rights have changed is another caller. */
  keyOf(caller: Caller, { origin, pageSize, pageToken, query, labels }: ListRequest): string {
    const narrowed = query === "" && labels.length === 0 ? "" : JSON.stringify([query, labels]);
    return `${this.#numberOf(caller)},${origin},${pageSize},${pageToken.length},${pageToken}${narrowed}`;
  }

  /** @param version the state that the collection is in. */
  get(key: string, version: number): Message | undefined {
    return version === this.#version ? this.#pages.get(key) : undefined;
  }

  /** @param version the state that the collection was in before and after the page was made. */
  keep(key: string, version: number, reply: Message): void {
    if (version !== this.#version) this.#pages.clear();
    this.#version = version;
    const rows = (reply as unknown as Record<string, readonly Message[]>)[this.member] as readonly Message[];
    for (const row of Object.freeze(rows)) Object.freeze(row);
    this.#pages.set(key, Object.freeze(reply), { size: rows.length + 1 });
  }

  #numberOf(caller: Caller): number {
    let number = this.#numbers.get(caller);
    if (number === undefined) {
      number = ++this.#callers;
      this.#numbers.set(caller, number);
    }
    return number;
  }
}
