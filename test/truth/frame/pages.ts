import type { Person } from "./product.js";

/** A row of a list: whatever it is of, it has an id. */
export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** How a list is read. */
export interface Reading {
  readonly tool: string;
  /** The member of the answer that holds the rows. */
  readonly rows: string;
  readonly args?: object;
  readonly pageSize?: number;
  /** What happens between one page and the next, such as somebody else's write. */
  readonly between?: (page: number) => Promise<void>;
}

/** Everything that a list gave, and what is wrong with how it gave it. */
export interface Read {
  readonly rows: readonly Row[];
  /** What each page said of how many there are. */
  readonly totals: readonly number[];
  readonly isLowerBound: boolean;
  /** The pages as they came. */
  readonly text: string;
  /** Ids that came more than once. */
  readonly repeated: readonly string[];
}

const MAX_PAGES = 1_000;

/** Reads a list through all its pages. @throws Error where the tool refuses, or goes on without end. */
export async function everyPage(person: Person, { tool, rows, args, pageSize, between }: Reading): Promise<Read> {
  const all: Row[] = [];
  const totals: number[] = [];
  const texts: string[] = [];
  let isLowerBound = false;
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const said = await person.ask(tool, { ...args, ...(pageSize && { page_size: pageSize }), page_token: token ?? "" });
    if (said.result === undefined) throw new Error(`${tool} as ${person.name}: ${said.refusal}`);
    texts.push(said.text);
    all.push(...((said.result[rows] ?? []) as Row[]));
    totals.push(said.result.total_size as number);
    isLowerBound = said.result.total_size_is_lower_bound === true;
    token = said.result.next_page_token as string | undefined;
    if (token === undefined) return { rows: all, totals, isLowerBound, text: texts.join("\n"), repeated: twice(all) };
    await between?.(page);
  }
  throw new Error(`${tool} as ${person.name}: more than ${MAX_PAGES} pages`);
}

function twice(rows: readonly Row[]): string[] {
  const ids = rows.map(({ id }) => id);
  return [...new Set(ids.filter((id, at) => ids.indexOf(id) !== at))];
}
