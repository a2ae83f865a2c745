import type { Log } from "../../services/shared/process/log.js";
import { type Exchange, JSON_HEADERS, jsonPage, type Page, type PageRequest, type Route } from "./http.js";

/** Everything of the façade that is not MCP. */
export interface Pages {
  /** Answers a request, with 404 where there is no such page. */
  serve(exchange: Exchange): void;
}

/** Finds the route of a request and answers with its page; a fault of a page is a 500 that says nothing. */
export function createPages(routes: readonly Route[], log: Log): Pages {
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
      if (route !== undefined) return run(exchange, route, log);
      if (here.length === 0) return void send(exchange, NOT_FOUND, log);
      const allow = here.flatMap(({ methods }) => methods).join(", ");
      const page = jsonPage(405, { error: "method_not_allowed" }, [...JSON_HEADERS, "allow", allow]);
      return void send(exchange, page, log);
    },
  };
}

const NOT_FOUND = jsonPage(404, { error: "not_found", message: "There is nothing at this address." });
const TOO_LARGE = jsonPage(413, { error: "too_large", message: "The request is too long." });
const FAILED = jsonPage(500, { error: "internal", message: "The service failed to answer; its log says why." });

function run(exchange: Exchange, route: Route, log: Log): void {
  const gone = new AbortController();
  exchange.onGone(() => gone.abort());
  const answer = async (body: string): Promise<void> => {
    const { method, path, query, headers, address } = exchange;
    const request: PageRequest = { method, path, query, headers, address, body, signal: gone.signal };
    let page: Page;
    try {
      page = await route.handle(request);
    } catch (error) {
      log.error({ err: error, path }, "a page failed");
      page = FAILED;
    }
    await send(exchange, page, log);
  };
  if (route.maxBody === 0) return void answer("");
  exchange.read(route.maxBody, (body) => void (body === undefined ? send(exchange, TOO_LARGE, log) : answer(body)));
}

async function send(exchange: Exchange, { status, headers, body }: Page, log: Log): Promise<void> {
  const clean = headers.map((text) => text.replaceAll(CONTROL, " "));
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) {
    return exchange.answer(status, clean, body);
  }
  exchange.open(status, clean);
  let writable = (): void => undefined;
  exchange.onWritable(() => writable());
  const gone = new Promise<void>((resolve) => exchange.onGone(resolve));
  try {
    for await (const piece of body) {
      if (exchange.gone) break;
      if (exchange.write(piece)) continue;
      const caughtUp = new Promise<void>((resolve) => {
        writable = resolve;
      });
      await Promise.race([caughtUp, gone]);
    }
    exchange.end();
  } catch (error) {
    log.error({ err: error, path: exchange.path }, "a page failed while it was sent");
    exchange.close();
  }
}

/** What would end a header line. */
const CONTROL = /[\r\n\0]/g;
