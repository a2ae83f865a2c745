import { gzipSync } from "node:zlib";
import { type Exchange, endless, type Hostile, json, nested, silent, slow } from "./remote.js";

// Hostile models and endpoints of embeddings, in the words of OpenAI's API.

const said =
  (message: object | string, more: object = {}): Hostile =>
  (exchange) =>
    json(exchange, { choices: [{ index: 0, message }], usage: { prompt_tokens: 1, completion_tokens: 1 }, ...more });
const call = (name: string, text: string, id = "c1"): object => ({
  id,
  type: "function",
  function: { name, arguments: text },
});
const calls =
  (...tool_calls: readonly object[]): Hostile =>
  (exchange) => {
    // Once, and then it is done: what it wants called again and again is another matter.
    const isFirst = !exchange.asked.messages?.some(({ role }) => role === "tool");
    return said(isFirst ? { role: "assistant", content: null, tool_calls } : { role: "assistant", content: "Done." })(
      exchange,
    );
  };
const bomb = gzipSync(`{"choices":[],"data":[],"x":"${" ".repeat(100_000_000)}"}`);
const gzipped: Hostile = ({ response }) =>
  void response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb);

/** A model that does what a test of a remote server needs: it calls the first tool that others serve, and is done. */
export const obedient: Hostile = (exchange) => {
  const { tools = [] } = exchange.asked as { tools?: { function: { name: string } }[] };
  const tool = tools.find(({ function: { name } }) => /^(mcp|custom)__/.test(name));
  return (tool === undefined ? said({ role: "assistant", content: "Done." }) : calls(call(tool.function.name, "{}")))(
    exchange,
  );
};

/** Hostile models by what is wrong with them. */
export const MODELS: Readonly<Record<string, Hostile>> = {
  "arguments that are nested 20,000 deep": calls(call("core__list_agents", `{"query":${nested(20_000)}}`)),
  "arguments of objects that are nested 6,000 deep": calls(
    call("core__list_agents", `{"a":${'{"a":'.repeat(6_000)}1${"}".repeat(6_000)}}`),
  ),
  "a call with a name of 2 MB": calls(call("n".repeat(2_000_000), "{}")),
  "a call with an id of 2 MB": calls(call("core__list_agents", "{}", "i".repeat(2_000_000))),
  "arguments of 7 MB": calls(call("core__list_agents", `{"query":"${"a".repeat(7_000_000)}"}`)),
  "10,000 calls at once": calls(
    ...Array.from({ length: 10_000 }, (_, n) => call("core__list_agents", '{"page_size":1}', `c${n}`)),
  ),
  "a model's answer that is nested 500,000 deep": (one) => json(one, `{"choices":${nested(500_000)}}`),
  "a model's answer of objects that are nested 1,000,000 deep": (one) =>
    json(one, `{"choices":${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_000)}}`),
  "a model's content that is nested 500,000 deep": (one) =>
    json(
      one,
      `{"choices":[{"message":{"role":"assistant","content":${'[{"a":'.repeat(500_000)}1${"}]".repeat(500_000)}}}]}`,
    ),
  "a model's message that has more, nested 500,000 deep": (one) =>
    json(
      one,
      `{"choices":[{"message":{"role":"assistant","content":"Done.","a":${'[{"a":'.repeat(500_000)}1${"}]".repeat(500_000)}}}]}`,
    ),
  "a model's text of 50 MB": said({ role: "assistant", content: "a".repeat(50_000_000) }),
  "a model's bomb of gzip": gzipped,
  "a model's 300,000 choices": (one) =>
    json(one, { choices: Array.from({ length: 300_000 }, () => ({ message: { role: "assistant", content: "a" } })) }),
  "a silent model": silent,
  "a model of one byte at a time": slow,
  "a model without end": endless,
  "a model's choices that are none": (one) => json(one, { choices: "none" }),
  "a model that answers with an error of 20 MB": ({ response }) =>
    void response
      .writeHead(400, { "content-type": "application/json" })
      .end(`{"error":{"message":"${"e".repeat(2e7)}"}}`),
  "a model that counts tokens in texts": said(
    { role: "assistant", content: "Done." },
    { usage: { prompt_tokens: "9e99" } },
  ),
};

const vectors = (one: Exchange, vector: readonly unknown[]): void =>
  json(one, { data: (one.asked.input ?? []).map((_, index) => ({ index, embedding: vector })) });

/** Hostile endpoints of embeddings by what is wrong with them. */
export const EMBEDDERS: Readonly<Record<string, Hostile>> = {
  "7 million numbers": (one) => json(one, `{"data":[{"index":0,"embedding":[${"1,".repeat(7_000_000)}1]}]}`),
  "vectors of 500,000 dimensions": (one) => vectors(one, Array(500_000).fill(1)),
  "vectors of words": (one) => vectors(one, ["one", "two"]),
  "vectors that are nested 500,000 deep": (one) => json(one, `{"data":${nested(500_000)}}`),
  "an embedder's bomb of gzip": gzipped,
  "a silent embedder": silent,
  "an embedder of one byte at a time": slow,
  "1e999 in place of a number": (one) => json(one, `{"data":[{"index":0,"embedding":[1e999,${"1,".repeat(10)}1]}]}`),
};
