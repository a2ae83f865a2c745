/** A browser without a screen: it keeps cookies, follows redirects, and fills in the forms of our pages. */
export class Browser {
  /** Whatever was shown, in order. */
  readonly pages: string[] = [];
  readonly #cookies = new Map<string, { readonly name: string; readonly value: string; readonly path: string }>();

  /**
   * @param fields what is entered into forms, by the name of the field.
   * @param button the label of a link that is followed, rather than that a form is sent, where a page has it.
   */
  constructor(
    readonly fields: Readonly<Record<string, string>>,
    private readonly ask: typeof fetch = fetch,
    private readonly button?: string,
  ) {}

  /** Follows an address to one that begins with `end`, and gives that. */
  async follow(start: URL, end: string): Promise<URL> {
    let url = start;
    let form: URLSearchParams | undefined;
    for (let hop = 0; hop < 20; hop++) {
      const reply = await this.fetch(url, form);
      form = undefined;
      const location = reply.headers.get("location");
      if (location !== null) {
        const next = new URL(location, url);
        if (next.href.startsWith(end)) return next;
        url = next;
        continue;
      }
      const page = await reply.text();
      this.pages.push(page);
      const href = this.button && new RegExp(`href="([^"]+)">${this.button}<`).exec(page)?.[1];
      if (href) {
        url = new URL(href.replaceAll("&#38;", "&"), url);
        continue;
      }
      const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1];
      const problem = /id="problem">([^<]*)/.exec(page)?.[1];
      if (action === undefined || problem !== undefined) {
        throw new Error(`${reply.status} at ${url.pathname}: ${problem ?? page.slice(0, 500)}`);
      }
      form = this.filledIn(page);
      url = new URL(action, url);
    }
    throw new Error("the redirects do not end");
  }

  /** One request, with the cookies of this browser. */
  async fetch(url: URL, form?: URLSearchParams, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const ofForm = form === undefined ? {} : { origin: url.origin, "sec-fetch-site": "same-origin" };
    const reply = await this.ask(url, {
      ...(form !== undefined && { method: "POST", body: form }),
      redirect: "manual",
      headers: { accept: "text/html", cookie: this.#cookieOf(url), ...ofForm, ...headers },
    });
    for (const line of reply.headers.getSetCookie()) this.#keep(line);
    return reply;
  }

  /** What this browser keeps, by name. */
  cookies(): readonly (readonly [name: string, value: string])[] {
    return [...this.#cookies.values()].map(({ name, value }) => [name, value] as const);
  }

  /** The fields of a page's form: what is hidden as it is, the rest as this browser's person enters it. */
  filledIn(page: string): URLSearchParams {
    const form = new URLSearchParams();
    for (const [tag] of page.matchAll(/<(?:input|button)[^>]*>/g)) {
      const name = /name="([^"]+)"/.exec(tag)?.[1];
      if (name === undefined) continue;
      const given = this.fields[name];
      if (/type="hidden"| readonly/.test(tag)) form.set(name, /value="([^"]*)"/.exec(tag)?.[1] ?? "");
      else if (given !== undefined) form.set(name, given);
    }
    return form;
  }

  #cookieOf({ pathname }: URL): string {
    const sent = [...this.#cookies.values()].filter(
      ({ path }) => path === "/" || pathname === path || pathname.startsWith(`${path}/`),
    );
    return sent.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  #keep(line: string): void {
    const [pair = "", ...attributes] = line.split(/;\s*/);
    const at = pair.indexOf("=");
    const cookie = {
      name: pair.slice(0, at),
      value: pair.slice(at + 1),
      path: attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? "/",
    };
    const isGone = cookie.value === "" || attributes.some((one) => /^expires=thu, 01 jan 1970/i.test(one));
    const key = `${cookie.name} ${cookie.path}`;
    if (isGone) this.#cookies.delete(key);
    else this.#cookies.set(key, cookie);
  }
}
