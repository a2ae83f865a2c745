/** Every page of a list, as it is asked for by the token of the page before. */
export async function* pages<T extends { readonly nextPageToken: string }>(
  get: (pageToken: string) => Promise<T>,
): AsyncIterable<T> {
  let pageToken = "";
  do {
    const page = await get(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}
