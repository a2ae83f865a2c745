import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// A model as providers serve one: chat completions over node:http, which say what a test has them say.

/** One message of a conversation, as it comes over the wire. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

/** What a model is asked. */
export interface Asked {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { name: string; description: string; parameters: object } }[];
  readonly authorization: string | undefined;
}

/** What a model answers: a text, calls of tools, a status of HTTP, or nothing at all. */
export type Reply =
  | string
  | { readonly call: string; readonly args?: object | string; readonly id?: string; readonly say?: string }
  | { readonly calls: readonly { readonly call: string; readonly args?: object; readonly id?: string }[] }
  | { readonly status: number; readonly location?: string; readonly error?: string }
  | { readonly respond: (response: ServerResponse) => unknown }
  | "never";

/** A model that is asked, and whoever else is: `other` answers what is not for the model. */
export async function startModel(
  reply: (asked: Asked) => Reply | Promise<Reply>,
  other: (request: IncomingMessage, body: string, response: ServerResponse) => void = (_request, _body, response) =>
    void response.writeHead(404).end(),
) {
  const asked: Asked[] = [];
  let made = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (!request.url?.endsWith("/chat/completions")) return other(request, body, response);
    const question: Asked = { ...JSON.parse(body), authorization: request.headers.authorization };
    asked.push(question);
    const said = await reply(question);
    if (said === "never") return;
    if (typeof said === "object" && "respond" in said) return void (await said.respond(response));
    if (typeof said === "object" && "status" in said) {
      response.writeHead(said.status, said.location === undefined ? {} : { location: said.location });
      return void response.end(JSON.stringify({ error: { message: said.error ?? `no, ${question.authorization}` } }));
    }
    const calls = typeof said === "string" ? [] : "calls" in said ? said.calls : [said];
    const tool_calls = calls.map(({ call, args = {}, id = `call_${++made}` }) => ({
      id,
      type: "function",
      function: { name: call, arguments: typeof args === "string" ? args : JSON.stringify(args) },
    }));
    const content = typeof said === "string" ? said : "say" in said ? said.say : null;
    const message = { role: "assistant", content, ...(tool_calls.length > 0 && { tool_calls }) };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: "chat-1",
        object: "chat.completion",
        model: question.model,
        choices: [{ index: 0, finish_reason: "stop", message }],
        usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The texts that tools answered, as the model was last told them. */
export function results({ messages }: Asked): (string | null)[] {
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
}
