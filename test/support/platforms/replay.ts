import type { Exchange } from "./recording.js";
import { differences, shapeOf } from "./shape.js";

/** The sandbox that recorded exchanges are asked of, and what stands there for what the recording names. */
export interface Stage {
  readonly url: string;
  /** An object of the same kind as that with a recorded id, which may be the id itself; asked for once. */
  standIn(id: string, exchange: Exchange): string | Promise<string>;
  /** The value of the authorization header; undefined for none. */
  authorize(exchange: Exchange): Promise<string | undefined>;
  /** Header fields of the request, but for content-type and authorization. */
  headers?(exchange: Exchange): Promise<Record<string, string>> | Record<string, string>;
  /** Changes a path, query or body beyond its ids. */
  rewrite?(text: string): string;
}

/** What a sandbox answered in place of the platform. */
export interface Replayed {
  /** From what the platform answered: none where it agrees. */
  readonly differences: readonly string[];
  readonly headers: Headers;
  /** The JSON; a text where it is none; undefined where it is empty. */
  readonly body: unknown;
}

/** Internal ids and STIX ids. */
const ID = /(?:[a-z0-9-]+--)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Asks a sandbox what was asked of the real platform, in the order of the recording. */
export class Replay {
  /** What stands for a recorded id. */
  readonly ids = new Map<string, string>();

  constructor(private readonly stage: Stage) {}

  /** Asks one exchange anew and compares status, shape and the like with what is recorded. */
  async run(exchange: Exchange): Promise<Replayed> {
    const reply = await this.send(exchange);
    const text = await reply.text();
    const body = parsed(text);
    const found = differencesOf(exchange, reply, text, body);
    for (const [path, id] of found.length === 0 ? (exchange.made ?? []) : []) {
      const ours = path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | null)?.[key], body);
      // What is first in a list stands for a recorded id only where nothing does yet.
      const listed = path.startsWith("results.") && this.ids.has(id);
      if (typeof ours === "string" && !listed) this.ids.set(id, ours);
    }
    return { differences: found, headers: reply.headers, body };
  }

  private async send(exchange: Exchange): Promise<Response> {
    const { method, document, variables = {}, body } = exchange;
    const url = new URL(`${this.stage.url}${await this.translate(exchange.path, exchange)}`);
    for (const [name, value] of Object.entries(exchange.query ?? {})) {
      for (const one of [value].flat()) url.searchParams.append(name, await this.translate(String(one), exchange));
    }
    const json = document === undefined ? body : { query: document, variables };
    const text = json === undefined || typeof json === "string" ? json : JSON.stringify(json);
    const sent = text && (await this.translate(text, exchange));
    const given: Record<string, string> = { ...exchange.headers, ...(await this.stage.headers?.(exchange)) };
    for (const [name, value] of Object.entries(given)) given[name] = await this.translate(value, exchange);
    const authorization = await this.stage.authorize(exchange);
    const headers = {
      ...(sent !== undefined && { "content-type": "application/json" }),
      ...given,
      ...(authorization !== undefined && { authorization }),
    };
    return fetch(url, { method, redirect: "manual", headers, ...(sent !== undefined && { body: sent }) });
  }

  /** Puts the sandbox's ids for the recorded ones. */
  private async translate(text: string, exchange: Exchange): Promise<string> {
    let translated = text;
    for (const id of new Set(text.match(ID) ?? [])) {
      translated = translated.replaceAll(id, await this.ours(id, exchange));
    }
    return this.stage.rewrite?.(translated) ?? translated;
  }

  /** What stands for a recorded id. */
  async ours(id: string, exchange: Exchange): Promise<string> {
    const ours = this.ids.get(id) ?? (await this.stage.standIn(id, exchange));
    this.ids.set(id, ours);
    return ours;
  }
}

function differencesOf(exchange: Exchange, reply: Response, text: string, body: unknown): string[] {
  const { status, answer, shape, type, location } = exchange;
  if (reply.status !== status) return [`status ${reply.status}, not ${status}: ${text.slice(0, 220)}`];
  if (location !== undefined) {
    return reply.headers.get("location") === location ? [] : [`leads to ${reply.headers.get("location")}`];
  }
  if (type !== undefined) {
    const found = reply.headers.get("content-type");
    return found === type ? [] : [`is ${found}, not ${type}`];
  }
  return differences(body, shape ?? shapeOf(answer));
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
