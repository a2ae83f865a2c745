import { type DescMethodUnary, type Message, toJson } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { connectClient } from "../../clients/node/connect.js";
import { serveTool } from "../../facade/catalogue/served-tool.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { post } from "../support/mcp.js";
import type { Program } from "../support/program.js";

// The tools of core through each door that there is to them.

/** MCP, gRPC, and Connect JSON of the façade. */
export const DOORS = ["mcp", "grpc", "rpc"] as const;
/** One of {@link DOORS}. */
export type Door = (typeof DOORS)[number];

/** What a call was answered. */
export interface Answer {
  /** ok, or the code; MCP says none, and is "refused". */
  readonly code: string;
  /** What was said of a refusal. */
  readonly said: string;
  /** The result as JSON, in the names of the door. */
  readonly text: string;
}

/** Every tool of core by its name. */
export const CORE_TOOLS = new Map(
  readTools(readImage())
    .filter(({ server }) => server === "core")
    .map((tool) => [tool.name, serveTool(tool)]),
);

interface Refusal {
  readonly code: string;
  readonly message: string;
}

function refusedBy({ code, message }: Refusal): Answer {
  return { code: code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase()), said: message, text: "" };
}

/** A message as Connect's streams frame it: flags and length before it. */
function enveloped(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The last message of a stream of Connect, or the error that ended it. */
function lastOf(stream: Buffer): Answer {
  let text = "";
  for (let at = 0; at < stream.length; ) {
    const [flags, end] = [stream[at] as number, at + 5 + stream.readUInt32BE(at + 1)];
    const frame = stream.toString("utf8", at + 5, end);
    const { error } = JSON.parse(frame) as { error?: Refusal };
    if ((flags & 2) !== 0 && error !== undefined) return refusedBy(error);
    if ((flags & 2) === 0) text = frame;
    at = end;
  }
  return { code: "ok", said: "", text };
}

async function lastMessageOf(answer: Promise<Message> & AsyncIterable<Message>): Promise<Message> {
  if (!(Symbol.asyncIterator in answer)) return answer;
  let last: Message | undefined;
  for await (const message of answer) last = message;
  return last as Message;
}

/** Calls tools of a program, and keeps what was called and answered. */
export function openDoors({ baseUrl, bootstrap }: Program) {
  const clients = new Map<string, Client<DescMethodUnary["parent"]>>();
  const called = new Set<string>();
  const answered: string[] = [];

  async function askMcp(key: string, name: string, args: object): Promise<Answer> {
    const { body, text, status } = await post(`${baseUrl}/mcp/core`, key, "tools/call", { name, arguments: args });
    if (body.result === undefined) throw new Error(`${name} answered ${status}: ${text}`);
    const [{ text: said = "" } = {}] = body.result.content as { text?: string }[];
    return body.result.isError ? { code: "refused", said, text: "" } : { code: "ok", said: "", text: said };
  }

  async function askRpc(key: string, method: DescMethodUnary, request: Message): Promise<Answer> {
    const isStream = (method.methodKind as string) === "server_streaming";
    const json = Buffer.from(JSON.stringify(toJson(method.input, request)));
    const reply = await fetch(`${baseUrl}/rpc/${method.parent.typeName}/${method.name}`, {
      method: "POST",
      headers: {
        "content-type": isStream ? "application/connect+json" : "application/json",
        authorization: `Bearer ${key}`,
      },
      body: isStream ? enveloped(json) : json,
    });
    if (isStream && reply.ok) return lastOf(Buffer.from(await reply.arrayBuffer()));
    const text = await reply.text();
    if (reply.ok) return { code: "ok", said: "", text };
    return refusedBy(JSON.parse(text) as Refusal);
  }

  async function askGrpc(apiKey: string, method: DescMethodUnary, request: Message): Promise<Answer> {
    const name = `${apiKey} ${method.parent.typeName}`;
    const client =
      clients.get(name) ?? connectClient(method.parent, { baseUrl: bootstrap.grpc_url, apiKey, protocol: "grpc" });
    clients.set(name, client);
    try {
      const call = client[method.localName] as unknown as (
        request: Message,
      ) => Promise<Message> & AsyncIterable<Message>;
      const answer = await lastMessageOf(call(request));
      return { code: "ok", said: "", text: JSON.stringify(toJson(method.output, answer)) };
    } catch (error) {
      const { code, rawMessage } = ConnectError.from(error);
      return { code: Code[code] as string, said: rawMessage, text: "" };
    }
  }

  async function ask(door: Door, key: string, tool: string, args: object): Promise<Answer> {
    called.add(tool);
    const served = CORE_TOOLS.get(tool);
    if (served === undefined) throw new Error(`core has no tool ${tool}`);
    const method = served.tool.method as DescMethodUnary;
    const answer =
      door === "mcp"
        ? await askMcp(key, tool, args)
        : await (door === "rpc" ? askRpc : askGrpc)(key, method, served.decode(args as never));
    answered.push(answer.said, answer.text);
    return answer;
  }

  /** What all doors answer: the code of gRPC and /rpc, for which MCP has the same words; else how they differ. */
  async function askAll(key: string, tool: string, argsOf: (door: Door) => object): Promise<string> {
    const answers: Answer[] = [];
    for (const door of DOORS) answers.push(await ask(door, key, tool, argsOf(door)));
    const [mcp, grpc, rpc] = answers as [Answer, Answer, Answer];
    const words = answers.map(({ said }) => said.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>"));
    const isAlike = words.every((said) => said === words[0]) && grpc.code === rpc.code;
    return isAlike && (mcp.code === "ok") === (grpc.code === "ok") ? grpc.code : `${JSON.stringify(answers)} differ`;
  }

  return { ask, askAll, called, answered };
}
