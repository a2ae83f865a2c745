import type { Slot } from "../../services/shared/limits/slots.js";
import type { Log } from "../../services/shared/process/log.js";
import type { Unauthenticated } from "../admission/unauthenticated.js";
import type { Unread } from "./body-reader.js";
import { type BodyStream, type Exchange, JSON_HEADERS } from "./exchange.js";
import { jsonPage, type Page, type PageRequest, type Route } from "./route.js";

/** Everything of the façade that is not MCP. */
export interface Pages {
  /** Answers a request, with 404 where there is no such page. */
  serve(exchange: Exchange): void;
}

/**
 * Finds the route of a request and answers with its page; a fault of a page is
 * a 500 that says nothing.
 *
 * @param unauthenticated counts the requests of which no route asks who sends them.
 */
export function createPages(routes: readonly Route[], log: Log, unauthenticated: Unauthenticated): Pages {
  const exact = new Map<string, Route[]>();
  const prefixed: { readonly prefix: string; readonly route: Route }[] = [];
  for (const route of routes) {
    if (route.path.endsWith("*")) prefixed.push({ prefix: route.path.slice(0, -1), route });
    else exact.set(route.path, [...(exact.get(route.path) ?? []), route]);
  }
  // The longest prefix is the closest match.
  prefixed.sort((a, b) => b.prefix.length - a.prefix.length);

  function routesAt(path: string): readonly Route[] {
    const found = exact.get(path) ?? (path.endsWith("/") ? exact.get(path.slice(0, -1)) : undefined);
    if (found !== undefined) return found;
    const near = prefixed.find(({ prefix }) => path.startsWith(prefix));
    return near === undefined ? [] : prefixed.filter((p) => p.prefix === near.prefix).map((p) => p.route);
  }

  return {
    serve(exchange) {
      const here = routesAt(exchange.path);
      const route = here.find(({ methods }) => methods.includes(exchange.method));
      if (route?.admits !== true) unauthenticated.count(exchange);
      if (route !== undefined) return run(exchange, route, log, unauthenticated);
      if (here.length === 0) return void send(exchange, NOT_FOUND, log);
      const allow = here.flatMap(({ methods }) => methods).join(", ");
      const page = jsonPage(405, { error: "method_not_allowed" }, [...JSON_HEADERS, "allow", allow]);
      return void send(exchange, page, log);
    },
  };
}

const NOT_FOUND = jsonPage(404, { error: "not_found", message: "There is nothing at this address: check the URL." });
const UNREAD: Readonly<Record<Unread, Page>> = {
  "too long": jsonPage(413, { error: "too_large", message: "The request is too long: send less at once." }),
  "too slow": jsonPage(408, { error: "too_slow", message: "The request took too long to arrive: send it again." }),
  "no room": jsonPage(
    429,
    {
      error: "too_many_requests",
      message:
        "The service has no memory for this request now: wait for answers to other requests, then send it again.",
    },
    [...JSON_HEADERS, "retry-after", "1"],
  ),
};
const FAILED = jsonPage(500, {
  error: "internal",
  message: "The service failed to answer: ask an administrator to read the cause in its log.",
});

function run(exchange: Exchange, route: Route, log: Log, unauthenticated: Unauthenticated) {
  const handle = route.handle as (request: PageRequest<unknown>) => Promise<Page> | Page;

  const answer = async (body: BodyStream | undefined): Promise<void> => {
    let page: Page;
    try {
      page = await handle(new ExchangeRequest(exchange, body));
    } catch (error) {
      if (!exchange.gone) log.error({ err: error, path: exchange.path }, "a page failed");
      page = FAILED;
    }
    if (page.unauthenticated === true) unauthenticated.count(exchange);
    await send(exchange, body?.unread === undefined ? page : unreadPage(body.unread), log);
  };
  const unreadPage = (why: Unread): Page => (route.takes && route.unread?.(why, exchange)) || UNREAD[why];

  if (route.takes === undefined) return exchange.inTurn(() => void answer(undefined));
  const entered = route.enter?.(exchange);
  if (entered !== undefined && "status" in entered) return void send(exchange, entered, log);
  if (entered !== undefined) exchange.occupy(entered);
  const body = exchange.stream(route.maxBody);
  const { unread } = body;
  exchange.inTurn(() => void (unread === undefined ? answer(body) : send(exchange, unreadPage(unread), log)));
}

/** A request as a page sees it. The signal is made when it is first asked for: few pages do. */
class ExchangeRequest implements PageRequest<unknown> {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Exchange["headers"];
  private aborter: AbortController | undefined;

  constructor(
    private readonly exchange: Exchange,
    readonly body: unknown,
  ) {
    this.method = exchange.method;
    this.path = exchange.path;
    this.query = exchange.query;
    this.headers = exchange.headers;
  }

  get address(): string {
    return this.exchange.address;
  }

  get signal(): AbortSignal {
    if (this.aborter === undefined) {
      const aborter = new AbortController();
      this.aborter = aborter;
      this.exchange.onGone(() => aborter.abort());
    }
    return this.aborter.signal;
  }

  occupy(slot: Slot): boolean {
    return this.exchange.occupy(slot);
  }

  keep(bytes: number): boolean {
    return this.exchange.keep(bytes);
  }
}

async function send(exchange: Exchange, { status, headers, body, length }: Page, log: Log): Promise<void> {
  const clean = headers.map((text) => text.replaceAll(CONTROL, " "));
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) {
    if (length === undefined) return exchange.answer(status, clean, body);
    // The answer to HEAD, whose body somebody else has left out.
    return exchange.open(status, clean, length);
  }
  exchange.open(status, clean, length);
  const pieces = body[Symbol.asyncIterator]();
  try {
    if (exchange.method !== "HEAD") await sendPieces(exchange, pieces);
  } catch (error) {
    if (!exchange.gone) log.error({ err: error, path: exchange.path }, "a page failed while it was sent");
    exchange.close();
  } finally {
    // Not waited for: who makes the pieces may be waiting for something else.
    pieces.return?.().catch(() => undefined);
  }
}

/** Sends piece after piece as fast as the client takes them, until it has all or is gone. */
async function sendPieces(exchange: Exchange, pieces: AsyncIterator<string | Uint8Array>): Promise<void> {
  let wake: () => unknown = () => undefined;
  exchange.onWritable(() => wake());
  exchange.onGone(() => wake());
  while (!exchange.gone) {
    const next = await new Promise<IteratorResult<string | Uint8Array> | undefined>((resolve, reject) => {
      wake = () => exchange.gone && resolve(undefined);
      pieces.next().then(resolve, reject);
    });
    if (next === undefined) return;
    if (next.done === true) return exchange.end();
    if (exchange.write(next.value) || exchange.gone) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** What would end a header line. */
const CONTROL = /[\r\n\0]/g;
