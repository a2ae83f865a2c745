import { createPrivateKey, type KeyObject, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Row } from "../frame/pages.js";

// The real platform asked directly as any of its people. Nothing here comes
// from the service: what is expected of a tool must not share its beliefs.

/** Where the real platform is, and what it takes for a signature of its issuer. */
export interface Address {
  readonly url: string;
  /** Who signs, as the platform is told to trust. */
  readonly issuer: string;
  /** A file with the issuer's Ed25519 key (PEM). */
  readonly keyFile: string;
}

/** What the platform answered. */
export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
  readonly body: any;
}

/** Query parameters; a list repeats its name. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** The real platform, as its people. */
export class RealPlatform {
  private readonly key: KeyObject;

  constructor(private readonly at: Address) {
    this.key = createPrivateKey(readFileSync(at.keyFile));
  }

  get url(): string {
    return this.at.url;
  }

  /** One request as the person with an e-mail address. */
  async call(email: string, method: string, path: string, body?: unknown, query: Query = {}): Promise<Reply> {
    const url = new URL(path, this.at.url);
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
    }
    const reply = await fetch(url, {
      method,
      redirect: "manual",
      headers: {
        accept: "application/json",
        "accept-language": "en",
        authorization: `Bearer ${this.token(email)}`,
        connection: "close",
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    const isJson = reply.headers.get("content-type")?.includes("json") === true && text !== "";
    return { status: reply.status, body: isJson ? JSON.parse(text) : text };
  }

  /** A request that must succeed; its body. @throws Error where it does not. */
  // biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
  async need(email: string, method: string, path: string, body?: unknown, query?: Query): Promise<any> {
    const reply = await this.call(email, method, path, body, query);
    if (reply.status < 300) return reply.body;
    const said = JSON.stringify(reply.body).slice(0, 500);
    throw new Error(`${email} ${method} ${path} ${JSON.stringify(body)?.slice(0, 300)}: ${reply.status} ${said}`);
  }

  /** Puts a file where a path keeps one. @throws Error where it is refused. */
  async upload(email: string, path: string, name: string, bytes: string | Uint8Array): Promise<void> {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
    const { status } = await fetch(new URL(path, this.at.url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.token(email)}`,
        "content-disposition": disposition,
        connection: "close",
      },
      body: new Blob([bytes]),
    });
    if (status > 299) throw new Error(`${email} POST ${path}: ${status}`);
  }

  /** A file as a person gets it; undefined where there is none for that person. */
  async download(email: string, path: string): Promise<{ bytes: Buffer; mediaType: string } | undefined> {
    const reply = await fetch(new URL(path, this.at.url), {
      headers: { authorization: `Bearer ${this.token(email)}`, connection: "close" },
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    if (reply.status !== 200) return undefined;
    return { bytes, mediaType: reply.headers.get("content-type")?.split(";")[0] ?? "" };
  }

  /** Everything that a list shows a person, in its order. */
  async list(email: string, path: string, query: Query = {}): Promise<Row[]> {
    const { status, body } = await this.call(email, "GET", path, undefined, { limit: 100_000, ...query });
    // Who has no role anywhere has no list either.
    if (status === 401 || status === 403) return [];
    if (status !== 200) throw new Error(`${email} GET ${path}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
    return body.results as Row[];
  }

  /** One object as a person reads it; undefined where that person may not. */
  async read(email: string, path: string, id: string): Promise<Row | undefined> {
    const { status, body } = await this.call(email, "GET", `${path}${id}/`);
    return status === 200 ? (body as Row) : undefined;
  }

  private token(email: string): string {
    const now = Math.floor(Date.now() / 1000);
    const { issuer: iss, url: aud } = this.at;
    const claims = { iss, aud, sub: email, email, iat: now - 1, exp: now + 120, jti: randomUUID() };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${part({ alg: "EdDSA", typ: "JWT", kid: "k1" })}.${part(claims)}`;
    return `${text}.${sign(null, Buffer.from(text), this.key).toString("base64url")}`;
  }
}
