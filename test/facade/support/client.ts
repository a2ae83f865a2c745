const KEY = "io.modelcontextprotocol";

/** What a façade answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where it is empty or no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
  readonly json: any;
}

/** The `_meta` of a modern request. */
export function envelope(more: object = {}): Record<string, unknown> {
  return {
    [`${KEY}/protocolVersion`]: "2026-07-28",
    [`${KEY}/clientInfo`]: { name: "test", version: "1" },
    [`${KEY}/clientCapabilities`]: {},
    ...more,
  };
}

/** A modern message with its headers. */
export function modern(method: string, params: Record<string, unknown> = {}, id: string | number = 1) {
  const { name } = params;
  return {
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...envelope(), ...(params._meta as object) } } },
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    } as Record<string, string>,
  };
}

/** A legacy message with its headers. */
export function legacy(method: string, params?: object, id: string | number = 1) {
  return {
    body: { jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) },
    headers: { "mcp-protocol-version": "2025-11-25" } as Record<string, string>,
  };
}

/** Posts a message as the key "good"; a header set to undefined is left out. */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const all = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: "Bearer good",
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await fetch(url, {
    method: "POST",
    headers: given,
    body: typeof body === "string" ? body : JSON.stringify(body),
    redirect: "manual",
  });
  return answerOf(response);
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

/** The messages of an event stream. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into any message
export function eventsOf(text: string): any[] {
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("event: message\n"))
    .map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)));
}
