import type { Issuer } from "./issuer.js";

// The real platform asked directly as any of its people. Nothing here comes
// from the service: what is expected of a tool must not share its beliefs.

// biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
export type Json = any;

/** What the platform answered. */
export interface Reply {
  readonly status: number;
  readonly body: Json;
}

/** The most that one page holds. */
const PAGE = 1_000;

/** The real platform, as its people. */
export class RealPlatform {
  constructor(
    readonly url: string,
    private readonly issuer: Issuer,
  ) {}

  /** One request as the person with an e-mail address. */
  async call(email: string, method: string, path: string, body?: unknown): Promise<Reply> {
    const reply = await fetch(new URL(path, this.url), {
      method,
      redirect: "manual",
      headers: {
        accept: "application/json",
        authorization: `Bearer ${this.issuer.token(email, this.url)}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    const isJson = reply.headers.get("content-type")?.includes("json") === true && text !== "";
    return { status: reply.status, body: isJson ? JSON.parse(text) : text };
  }

  /** A request that must succeed; its body. @throws Error where it does not. */
  async need(email: string, method: string, path: string, body?: unknown): Promise<Json> {
    const reply = await this.call(email, method, path, body);
    if (reply.status < 300) return reply.body;
    const said = JSON.stringify(reply.body).slice(0, 400);
    throw new Error(`${email} ${method} ${path} ${JSON.stringify(body)?.slice(0, 300)}: ${reply.status} ${said}`);
  }

  /**
   * Everything that a search shows a person, less what its pages repeat: the
   * whole list in one page, unfiltered, so that none of what its filters and
   * sorts do is believed. Undefined where the person may not ask.
   */
  async search(email: string, path: string, id: string): Promise<Json[] | undefined> {
    const { status, body } = await this.call(email, "POST", path, { page: 0, size: PAGE });
    if (status === 401 || status === 403) return undefined;
    if (status !== 200 || body.totalElements > PAGE) {
      throw new Error(`${email} POST ${path}: ${status}, ${body.totalElements} rows`);
    }
    return [...new Map((body.content as Json[]).map((row) => [row[id], row])).values()];
  }

  /** One object as a person reads it; undefined where that person may not or there is none. */
  async read(email: string, path: string): Promise<Json | undefined> {
    const { status, body } = await this.call(email, "GET", path);
    return status === 200 ? body : undefined;
  }
}
