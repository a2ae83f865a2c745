/** What every list answers with, besides its items. */
export interface Page {
  /** Absent or empty on the last page. */
  readonly nextPageToken?: string | undefined;
}

/**
 * Every item of a list, page by page: the next is asked for when the ones before are done with.
 *
 * @param list asks for the page of this token; "" for the first.
 * @param itemsOf the items of a page.
 * @throws what `list` throws; a token that has expired or that belongs to another filter is invalid_argument.
 *
 * @example
 * const all = everyItem((pageToken) => agents.listAgents({ pageSize: 100, pageToken }), (page) => page.agents);
 * for await (const agent of all) …
 */
export async function* everyItem<P extends Page, T>(
  list: (pageToken: string) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
): AsyncGenerator<T, void, undefined> {
  let token = "";
  do {
    const page = await list(token);
    yield* itemsOf(page);
    token = page.nextPageToken ?? "";
  } while (token !== "");
}
