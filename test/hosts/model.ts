import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// A model that always does the same: it calls the tool that it is told to, once,
// and then says that it is done. It speaks as much of four APIs as their clients
// need, and remembers what it was shown.

/** What the model is to do. */
export interface Wish {
  /** The tool's name, as the MCP server has it. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the model was shown. */
export interface Seen {
  /** Names of tools, as the host calls them. */
  tools: readonly string[];
  /** What the host shows of the tool's answer. */
  result: string | undefined;
  /** The bytes of the largest request before a tool's answer: one turn. */
  turn: number;
}

/** A model at work. */
export interface Model {
  readonly url: string;
  readonly seen: Seen;
  close(): void;
}

type Json = Record<string, unknown>;

/** How one API writes requests and answers. */
interface Dialect {
  matches(path: string): boolean;
  tools(body: Json): string[];
  /** What is shown of the tool's answer, once it is there. */
  result(body: Json): string | undefined;
  call(tool: string, args: object, path: string): string;
  say(text: string, path: string): string;
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const text = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
const events = (...all: readonly Json[]): string =>
  all
    .map((data) => `${data.type === undefined ? "" : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`)
    .join("");

/** Content in blocks, of which only texts count. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return text(content);
  return list(content)
    .map((block) => text(block.text ?? block))
    .join("\n");
}

function messageOf(block: Json, delta: Json, stop: string): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "mock",
    content: [],
    stop_reason: null,
    usage,
  };
  return events(
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: stop }, usage },
    { type: "message_stop" },
  );
}

const anthropic: Dialect = {
  matches: (path) => path.includes("/v1/messages"),
  tools: (body) => list(body.tools).map((tool) => text(tool.name)),
  result: (body) =>
    list(body.messages)
      .flatMap((message) => list(message.content))
      .filter((block) => block.type === "tool_result")
      .map((block) => textOf(block.content))[0],
  call: (name, args) =>
    messageOf(
      { type: "tool_use", id: "toolu_1", name, input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify(args) },
      "tool_use",
    ),
  say: (said) => messageOf({ type: "text", text: "" }, { type: "text_delta", text: said }, "end_turn"),
};

function responseOf(item: Json): string {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return events(
    { type: "response.created", response: { id: "resp_1" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", usage, output: [item] } },
  );
}

const responses: Dialect = {
  matches: (path) => path.endsWith("/responses"),
  // A namespace holds the tools of a server.
  tools: (body) =>
    list(body.tools).flatMap((tool) =>
      tool.type === "namespace"
        ? list(tool.tools).map((one) => `${text(tool.name)}|${text(one.name)}`)
        : [text(tool.name)],
    ),
  result: (body) =>
    list(body.input)
      .filter((item) => item.type === "function_call_output")
      .map((item) => textOf((item.output as Json)?.content ?? item.output))[0],
  call: (name, args) => {
    const [last, namespace] = name.split("|").reverse();
    const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: last, arguments: JSON.stringify(args) };
    return responseOf({ ...item, ...(namespace !== undefined && { namespace }) });
  },
  say: (said) =>
    responseOf({ type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: said }] }),
};

const chunkOf = (delta: Json, finish: string): string =>
  `${events(
    {
      id: "c_1",
      object: "chat.completion.chunk",
      created: 1,
      model: "mock",
      choices: [{ index: 0, delta, finish_reason: null }],
    },
    {
      id: "c_1",
      object: "chat.completion.chunk",
      created: 1,
      model: "mock",
      choices: [{ index: 0, delta: {}, finish_reason: finish }],
    },
  )}data: [DONE]\n\n`;

const completions: Dialect = {
  matches: (path) => path.endsWith("/chat/completions"),
  tools: (body) => list(body.tools).map((tool) => text((tool.function as Json)?.name)),
  result: (body) =>
    list(body.messages)
      .filter((message) => message.role === "tool")
      .map((message) => textOf(message.content))[0],
  call: (name, args) =>
    chunkOf(
      {
        role: "assistant",
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: JSON.stringify(args) } }],
      },
      "tool_calls",
    ),
  say: (said) => chunkOf({ role: "assistant", content: said }, "stop"),
};

function candidateOf(part: Json, path: string): string {
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const answer = {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
    usageMetadata,
  };
  return path.includes("stream") ? events(answer) : JSON.stringify(answer);
}

const gemini: Dialect = {
  matches: (path) => path.includes("enerateContent"),
  tools: (body) => list(body.tools).flatMap((tool) => list(tool.functionDeclarations).map((one) => text(one.name))),
  result: (body) =>
    list(body.contents)
      .flatMap((content) => list(content.parts))
      .filter((part) => part.functionResponse !== undefined)
      .map((part) => {
        const { response } = part.functionResponse as { response: Json };
        return text(response?.output ?? response?.error ?? response);
      })[0],
  call: (name, args, path) => candidateOf({ functionCall: { name, args } }, path),
  say: (said, path) => candidateOf({ text: said }, path),
};

const DIALECTS = [anthropic, responses, completions, gemini];

/** Starts a model on a port of its own. */
export async function startModel({ tool, arguments: args }: Wish): Promise<Model> {
  const seen: Seen = { tools: [], result: undefined, turn: 0 };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] as string;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const dialect = DIALECTS.find((one) => one.matches(path));
    if (dialect === undefined || path.endsWith("count_tokens")) return void response.writeHead(404).end("{}");
    const body = JSON.parse(Buffer.concat(pieces).toString() || "{}") as Json;
    const tools = dialect.tools(body);
    if (tools.length > seen.tools.length) seen.tools = tools;
    const result = dialect.result(body);
    seen.result ??= result;
    if (result === undefined) seen.turn = Math.max(seen.turn, Buffer.concat(pieces).length);
    // Hosts add the server's name in front, each in its own way.
    const own = tools.find(
      (name) => name === tool || name.endsWith(`_${tool}`) || name.endsWith(`|${tool}`) || name.endsWith(`-${tool}`),
    );
    const isCall = result === undefined && own !== undefined;
    const isStream = !path.includes("generateContent");
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    response.end(isCall ? dialect.call(own, args, path) : dialect.say("Done.", path));
  }

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
