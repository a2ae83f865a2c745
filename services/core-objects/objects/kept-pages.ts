import type { Message } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import type { Caller } from "../../shared/rpc/call.js";
import type { ListRequest } from "./messages.js";

/** The most rows that are kept of a kind. */
const MAX_ROWS = 2_000;

interface Page {
  readonly version: number;
  readonly reply: Message;
}

/**
 * Pages of a list that are asked for again while nothing of their collection changes, each for who is shown it: a page
 * is made of the records, the request and the caller alone. Nobody can change a page: other answers are it too.
 */
export class KeptPages {
  readonly #pages = new LRUCache<string, Page>({ maxSize: MAX_ROWS });
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
    const page = this.#pages.get(key);
    return page?.version === version ? page.reply : undefined;
  }

  /** @param version the state that the collection was in before and after the page was made. */
  keep(key: string, version: number, reply: Message): void {
    const rows = (reply as unknown as Record<string, readonly Message[]>)[this.member] as readonly Message[];
    for (const row of Object.freeze(rows)) Object.freeze(row);
    this.#pages.set(key, { version, reply: Object.freeze(reply) }, { size: rows.length + 1 });
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
