/** What a page or a redirect chain ended with. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly host: string;
  readonly path: string;
}

const MAX_HOPS = 20;

/** A browser without a screen: follows redirects, keeps cookies by host and path, and fills forms in. */
export class Browser {
  #cookies: Cookie[] = [];
  /** Each address that was asked for. */
  readonly trail: string[] = [];

  /** Opens an address and follows it; a redirect to an address that `until` wants is where it stops. */
  async open(address: string | URL, until: (url: URL) => boolean = () => false): Promise<Page> {
    return this.#follow(new URL(address), {}, until);
  }

  /** Sends the first form of a page with its hidden fields, and these. */
  async submit(page: Page, fields: Readonly<Record<string, string>>, until?: (url: URL) => boolean): Promise<Page> {
    const form = /<form\b[^>]*>/i.exec(page.text)?.[0];
    if (form === undefined) throw new Error(`no form at ${page.url}: ${page.text.slice(0, 300)}`);
    const hidden = [...page.text.matchAll(/<input\b[^>]*>/gi)]
      .map(([input]) => input)
      .filter((input) => /type="hidden"/i.test(input))
      .map((input): [string, string] => [attribute(input, "name"), attribute(input, "value")]);
    const body = new URLSearchParams([...hidden, ...Object.entries(fields)]);
    const action = new URL(attribute(form, "action") || page.url, page.url);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return this.#follow(action, { method: "POST", body: body.toString(), headers }, until ?? (() => false));
  }

  /** The Cookie header for an address. */
  cookiesFor({ hostname, pathname }: URL): string {
    return this.#cookies
      .filter(
        ({ host, path }) => host === hostname && `${pathname}/`.startsWith(path.endsWith("/") ? path : `${path}/`),
      )
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  async #follow(start: URL, first: RequestInit, until: (url: URL) => boolean): Promise<Page> {
    let url = start;
    let init = first;
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      this.trail.push(url.href);
      const headers = {
        ...(init.headers as Record<string, string>),
        cookie: this.cookiesFor(url),
        accept: "text/html",
      };
      const answer = await fetch(url, { ...init, headers, redirect: "manual" });
      for (const line of answer.headers.getSetCookie()) this.#keep(line, url);
      const location = answer.headers.get("location");
      if (location === null) return { url, status: answer.status, text: await answer.text() };
      await answer.body?.cancel();
      url = new URL(location, url);
      init = {};
      if (until(url)) return { url, status: answer.status, text: "" };
    }
    throw new Error(`too many redirects: ${this.trail.slice(-MAX_HOPS).join(" ")}`);
  }

  #keep(line: string, { hostname: host, pathname }: URL): void {
    const [pair = "", ...attributes] = line.split(/;\s*/);
    const [name = ""] = pair.split("=", 1);
    const value = pair.slice(name.length + 1);
    const found = (wanted: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const path = found("path") ?? pathname.slice(0, Math.max(1, pathname.lastIndexOf("/")));
    this.#cookies = this.#cookies.filter((one) => one.name !== name || one.host !== host || one.path !== path);
    const expires = found("expires");
    const isOver = found("max-age") === "0" || (expires !== undefined && Date.parse(expires) < Date.now());
    if (!isOver && value !== "") this.#cookies.push({ name, value, host, path });
  }
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`, "i").exec(tag)?.[1] ?? "";
  return value.replaceAll("&amp;", "&").replaceAll("&#x3D;", "=").replaceAll("&quot;", '"');
}
