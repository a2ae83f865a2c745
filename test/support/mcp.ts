/** A JSON-RPC answer of an MCP endpoint, with the HTTP status it came with. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly id?: string | number;
    readonly result?: Record<string, unknown> & { structuredContent?: Record<string, unknown>; isError?: boolean };
    readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly error?: string } };
  };
  /** The body as it came. */
  readonly text: string;
}

/** Posts one request of the 2025-11-25 era, as a client without an SDK would. */
export async function post(
  url: string,
  key: string,
  method: string,
  params: object = {},
  id: number | string = 1,
): Promise<Answer> {
  const reply = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
  });
  const text = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    text,
    body: text === "" ? {} : (JSON.parse(text) as Answer["body"]),
  };
}

/** The names that tools/list shows. */
export async function toolNames(url: string, key: string): Promise<string[]> {
  const { body, status, text } = await post(url, key, "tools/list");
  if (body.result === undefined) throw new Error(`tools/list answered ${status}: ${text}`);
  return (body.result.tools as { name: string }[]).map((tool) => tool.name);
}

/** Calls a tool and gives its structured result. @throws Error with what the tool said instead. */
export async function call<T = Record<string, unknown>>(
  url: string,
  key: string,
  name: string,
  args: object = {},
): Promise<T> {
  const { body, status, text } = await post(url, key, "tools/call", { name, arguments: args });
  if (body.result === undefined || body.result.isError) throw new Error(`${name} answered ${status}: ${text}`);
  return body.result.structuredContent as T;
}
