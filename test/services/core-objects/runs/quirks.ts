import { gzipSync } from "node:zlib";
import { type Asked, type Reply, results } from "./model-server.js";
import {
  always,
  type Behaviour,
  callOf,
  choice,
  delta,
  done,
  events,
  failed,
  json,
  LIST,
  refusal,
  says,
  toolThen,
  USAGE,
  USED,
} from "./replies.js";

// What single services of models do in their own way, as their documents and the issues of their clients have it.

/** What is paid: the second request, after one that was refused. */
const onceMore = { ...done(1), requests: 2 };
/** A request that states no tokens. */
const estimated = (about: RegExp, requests: number): Omit<Behaviour, "reply"> => ({
  ...{ state: "FAILED", reason: "MODEL_FAILED", says: about, requests },
});
const raw = (text: string | Buffer, headers: Record<string, string>): Reply => ({
  respond(response) {
    response.writeHead(200, headers);
    response.end(text);
  },
});
const SSE = { "content-type": "text/event-stream" };
const eventsIn = (...all: readonly (object | string)[]): string =>
  all.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");
const DONE = [delta({ content: "Do" }), delta({ content: "ne." }, "stop"), USED, "[DONE]"] as const;
/** Refuses the second request unless the first one's answer comes back as it was. */
const back = (first: Reply, isBack: (said: Record<string, unknown>, asked: Asked) => boolean, why: string) =>
  function reply(n: number, asked: Asked): Reply {
    if (n === 0) return first;
    const said = asked.messages.find(({ tool_calls }) => tool_calls !== undefined);
    return isBack(said as unknown as Record<string, unknown>, asked) ? says("Done.") : refusal(400, { message: why });
  };
/** An answer that never ends. */
const open = (...all: readonly object[]): Reply => ({
  respond(response) {
    response.writeHead(200, SSE);
    response.write(eventsIn(...all));
  },
});
const gemini = (code: number, message: string, details: readonly object[] = []): Reply =>
  json([{ error: { code, message, status: "RESOURCE_EXHAUSTED", details } }], code);
const RETRY = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1s" };
const QUOTA = "You exceeded your current quota, please check your plan and billing details.";
const callFrom = (id: string, more: object = {}): object => ({ ...callOf(id, LIST), ...more });
const SIGNED = { extra_content: { google: { thought_signature: "c2lnbmVk" } } };

/** By name, which is the model's name too. */
export const QUIRKS: Readonly<Record<string, Behaviour>> = {
  "DeepSeek: thoughts that come back with calls": {
    reply: back(
      choice({ content: "", reasoning_content: "Hm.", tool_calls: [callOf("a", LIST)] }, "tool_calls"),
      ({ reasoning_content }) => reasoning_content === "Hm.",
      "Missing `reasoning_content` field in the assistant message at message index 2.",
    ),
    ...done(2),
  },
  "DeepSeek: thoughts in a stream": {
    reply: back(
      events(
        ...[delta({ reasoning_content: "H" }), delta({ reasoning_content: "m." })],
        delta({ tool_calls: [{ index: 0, ...callOf("a", LIST) }] }, "tool_calls"),
        ...[USED, "[DONE]"],
      ),
      ({ reasoning_content }) => reasoning_content === "Hm.",
      "The `reasoning_content` in the thinking mode must be passed back to the API.",
    ),
    ...done(2),
  },
  "DeepSeek: too few resources": {
    reply: always(says("The begin", "insufficient_system_resource")),
    ...failed("MODEL_FAILED", /failed while it answered/, 1, [100, 10]),
    output: "The begin",
  },
  "Gemini: signatures of calls that come back": {
    reply: back(
      choice({ content: null, tool_calls: [callFrom("a", SIGNED), callOf("b", LIST)] }, "tool_calls"),
      ({ tool_calls }) => {
        const [first, second] = tool_calls as readonly Partial<typeof SIGNED>[];
        return first!.extra_content?.google.thought_signature === "c2lnbmVk" && !("extra_content" in second!);
      },
      "Function call is missing a thought_signature in functionCall parts.",
    ),
    ...done(2),
  },
  "Gemini: signatures in a stream": {
    reply: back(
      events(delta({ tool_calls: [{ index: 0, ...callFrom("a", SIGNED) }] }, "tool_calls"), USED, "[DONE]"),
      ({ tool_calls }) =>
        (tool_calls as readonly Partial<typeof SIGNED>[])[0]!.extra_content?.google.thought_signature === "c2lnbmVk",
      "Function call is missing a thought_signature in functionCall parts.",
    ),
    ...done(2),
  },
  "Gemini: parallel calls, all of number 0 and without ids": {
    reply: back(
      events(
        delta({ tool_calls: [{ index: 0, ...callOf("", LIST, '{"page_size":1}') }] }),
        delta({ tool_calls: [{ index: 0, ...callOf("", LIST, '{"page_size":2}') }] }, "tool_calls"),
        ...[USED, "[DONE]"],
      ),
      (_said, asked) => results(asked).length === 2 && results(asked).every((one) => !/not JSON/.test(one ?? "")),
      "the calls were joined",
    ),
    ...done(2),
  },
  "Gemini: a refusal in a list": {
    reply: always(gemini(400, "Unable to submit request")),
    ...failed("MODEL_FAILED", /HTTP 400 Unable to submit request/, 1, [0, 0]),
  },
  "Gemini: the quota of a minute, with its delay in the body": {
    reply: (n) => (n === 0 ? gemini(429, QUOTA, [RETRY]) : says("Done.")),
    ...onceMore,
  },
  "Gemini: the quota of a day": {
    reply: always(gemini(429, QUOTA, [{ violations: [{ quotaId: "RequestsPerDayPerProject" }] }, RETRY])),
    ...failed("MODEL_FAILED", /HTTP 429 You exceeded your current quota/, 1, [0, 0]),
  },
  "Mistral: ids of nine letters alone": {
    reply: (n, asked) => {
      if (n === 0) return choice({ content: "", tool_calls: [callOf("call_abcdefghijklmnop", LIST)] }, "tool_calls");
      const ids = asked.messages.flatMap((one) => one.tool_calls?.map(({ id }) => id) ?? one.tool_call_id ?? []);
      const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
      if (wrong === undefined && new Set(ids).size === 1) return says("Done.");
      return json(
        {
          ...{ object: "error", message: `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.` },
          ...{ type: "invalid_request_error", param: null, code: "3280" },
        },
        400,
      );
    },
    ...done(2),
    requests: 3,
  },
  "Azure: the task is filtered": {
    reply: always(
      refusal(400, {
        message: "The response was filtered due to the prompt triggering the content management policy.",
        ...{ param: "prompt", code: "content_filter", status: 400 },
        innererror: { code: "ResponsibleAIPolicyViolation" },
      }),
    ),
    ...failed("FILTERED", /provider of the model .* filtered/, 1, [0, 0]),
  },
  "Azure: filter results in a chunk without choices": {
    reply: always(
      events(
        { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
        { choices: [{ index: 0, delta: { content: "Done." }, content_filter_results: {}, finish_reason: null }] },
        ...[delta({}, "stop"), USED, "[DONE]"],
      ),
    ),
    ...done(1),
  },
  "vLLM: an error in a stream without its envelope": {
    reply: always(
      events({ object: "error", message: "guided decoding failed", type: "BadRequestError", code: 400 }, "[DONE]"),
    ),
    ...estimated(/it answered: guided decoding failed/, 1),
  },
  "vLLM: too long, without an envelope": {
    reply: always(
      json({ object: "error", message: "This model's maximum context length is 500 tokens.", code: 400 }, 400),
    ),
    ...failed("MODEL_FAILED", /reads 500 tokens at a time/, 1, [0, 0]),
  },
  "vLLM: an aborted answer": {
    reply: always(says("The begin", "abort")),
    ...failed("MODEL_FAILED", /failed while it answered/, 1, [100, 10]),
    output: "The begin",
  },
  "FastAPI: a refusal as a detail": {
    reply: always(json({ detail: [{ loc: ["body", "tools"], msg: "Field is not taken", type: "value_error" }] }, 422)),
    ...failed("MODEL_FAILED", /HTTP 422 Field is not taken/, 1, [0, 0]),
  },
  "llama.cpp: loading its model, then an answer": {
    reply: (n) => (n === 0 ? refusal(503, { code: 503, message: "Loading model" }) : says("Done.")),
    ...onceMore,
  },
  "llama.cpp: too long": {
    reply: always(
      refusal(400, {
        message: "request (9000 tokens) exceeds the available context size (512 tokens), try increasing it",
        ...{ code: 400, type: "exceed_context_size_error", n_prompt_tokens: 9_000, n_ctx: 512 },
      }),
    ),
    ...failed("MODEL_FAILED", /reads 512 tokens at a time/, 1, [0, 0]),
  },
  "Ollama: a model that is not there": {
    reply: always(refusal(404, { message: 'model "x" not found, try pulling it first', type: "api_error" })),
    ...failed("MODEL_FAILED", /HTTP 404 model "x" not found, try pulling it first/, 1, [0, 0]),
  },
  "GLM: a sensitive answer": {
    reply: always(says("", "sensitive")),
    ...failed("FILTERED", /filtered its answer/, 1, [100, 10]),
  },
  "MiniMax: success without a message, and why": {
    reply: always(json({ choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } })),
    ...estimated(/contains no message, but says: insufficient balance/, 1),
  },
  "Perplexity: the whole message beside each piece, and usage in each": {
    reply: always(
      events(
        ...[
          { delta: { content: "Do" }, message: { content: "Do" }, finish_reason: null },
          { delta: { content: "ne." }, message: { content: "Done." }, finish_reason: "stop" },
        ].map((one, n) => ({ choices: [{ index: 0, ...one }], usage: { ...USAGE, completion_tokens: 5 * (n + 1) } })),
      ),
    ),
    ...done(1),
  },
  "Groq: usage in a field of its own": {
    reply: always(events(delta({ content: "Done." }), { ...delta({}, "stop"), x_groq: { usage: USAGE } }, "[DONE]")),
    ...done(1),
  },
  "Kimi: usage in the choice": {
    reply: always(
      events(delta({ content: "Done." }), { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: USAGE }] }),
    ),
    ...done(1),
  },
  "OpenAI: one request is more than a minute's tokens": {
    reply: always(
      refusal(429, {
        message:
          "Request too large for gpt-4o on tokens per min (TPM): Limit 500, Requested 900. The input or output tokens must be reduced in order to run successfully.",
        code: "rate_limit_exceeded",
      }),
    ),
    ...failed("MODEL_FAILED", /reads 500 tokens at a time/, 1, [0, 0]),
  },
  "OpenRouter: an error beside a choice": {
    reply: always(
      events(delta({ content: "Do" }), {
        error: { code: "server_error", message: "Provider disconnected" },
        choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
      }),
    ),
    ...estimated(/it answered: Provider disconnected/, 3),
  },
  "LiteLLM: stream_options are refused": {
    reply: (_n, asked) =>
      "stream_options" in asked
        ? refusal(400, { message: "Unrecognized request argument supplied: stream_options" })
        : says("Done."),
    ...onceMore,
  },
  "no finish reason to the end of a stream": {
    reply: always(events(delta({ content: "Done." }), USED, "[DONE]")),
    ...done(1),
  },
  "[DONE] twice": { reply: always(events(...DONE, "[DONE]")), ...done(1) },
  "a stream that stays open after its end": {
    reply: always(open(delta({ content: "Done." }), delta({}, "stop"), USED)),
    ...done(1),
    timeoutSeconds: 60,
  },
  "a stream that stays open, without usage": {
    reply: always(open(delta({ content: "Done." }), delta({}, "stop"))),
    ...{ state: "COMPLETED", output: "Done.", requests: 1 },
    timeoutSeconds: 60,
  },
  "an answer in gzip": {
    reply: always(
      raw(gzipSync(JSON.stringify({ choices: [{ message: { content: "Done." } }], usage: USAGE })), {
        ...{ "content-type": "application/json", "content-encoding": "gzip" },
      }),
    ),
    ...done(1),
  },
  "a stream in gzip": {
    reply: always(raw(gzipSync(eventsIn(...DONE)), { ...SSE, "content-encoding": "gzip" })),
    ...done(1),
  },
  "a mark in front, comments, pings and CRLF": {
    reply: always(
      raw(
        `\ufeff: PROCESSING\r\n\r\nevent: ping\r\ndata: {"type":"ping"}\r\n\r\n${eventsIn(...DONE).replaceAll("\n", "\r\n")}`,
        SSE,
      ),
    ),
    ...done(1),
  },
  "a mark in front of JSON": {
    reply: always(json(`\ufeff${JSON.stringify({ choices: [{ message: { content: "Done." } }], usage: USAGE })}`)),
    ...done(1),
  },
  "an event over several lines": {
    reply: always(
      raw(
        `${JSON.stringify(delta({ content: "Done." }, "stop"), null, 1)
          .split("\n")
          .map((line) => `data: ${line}\n`)
          .join("")}\n${eventsIn(USED, "[DONE]")}`,
        SSE,
      ),
    ),
    ...done(1),
  },
  "lines of JSON in place of events": {
    reply: always(
      raw(
        DONE.slice(0, 3)
          .map((one) => `${JSON.stringify(one)}\n`)
          .join(""),
        { "content-type": "application/x-ndjson" },
      ),
    ),
    ...done(1),
  },
  "an object, a million empty lines and a word": {
    reply: always(raw(`{}${"\n".repeat(1_000_000)}x`, { "content-type": "application/json" })),
    ...estimated(/not JSON/, 1),
  },
  "events that are called JSON and begin with a comment": {
    reply: always(raw(`: OK\n\n${eventsIn(...DONE)}`, { "content-type": "application/json" })),
    ...done(1),
  },
  "arguments as JSON in JSON": {
    reply: (n, asked) =>
      n === 0
        ? choice({ content: "", tool_calls: [callOf("a", LIST, '"{\\"page_size\\":1}"')] }, "tool_calls")
        : /arguments are not/.test(results(asked)[0] ?? "")
          ? says("The tool failed.")
          : says("Done."),
    ...done(2),
  },
  "a call with null for its arguments": {
    reply: toolThen(choice({ content: null, tool_calls: [{ id: "a", function: { name: LIST, arguments: null } }] })),
    ...done(2),
  },
  "502 with a page": {
    reply: always(
      json("<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>", 502, {
        "content-type": "text/html",
      }),
    ),
    ...failed("MODEL_FAILED", /: HTTP 502 Bad Gateway$/, 3, [0, 0]),
  },
  "521 of a proxy, then an answer": {
    reply: (n) => (n === 0 ? json("error code: 521", 521, { "content-type": "text/plain" }) : says("Done.")),
    ...onceMore,
  },
  "413 on the way, then an answer to less": {
    reply: (n) =>
      n < 4
        ? choice({ content: null, tool_calls: [callOf(`c${n}`, LIST)] }, "tool_calls")
        : n === 4
          ? json("<html><title>413 Request Entity Too Large</title></html>", 413, { "content-type": "text/html" })
          : says("Done."),
    ...done(5),
    requests: 6,
  },
  "429 with a date": {
    reply: (n) =>
      n === 0
        ? refusal(429, { message: "slow down" }, { "retry-after": new Date(Date.now() + 2_000).toUTCString() })
        : says("Done."),
    ...onceMore,
  },
  "429 in a stream, then an answer": {
    reply: (n) => (n === 0 ? events({ error: { code: 429, message: "Rate limit exceeded" } }) : says("Done.")),
    ...{ state: "COMPLETED", output: "Done.", requests: 2 },
  },
  "a connection that is reset after its usage": {
    reply: always({
      respond(response) {
        response.writeHead(200, SSE);
        response.write(eventsIn(delta({ content: "Do" }), USED), () => setTimeout(() => response.destroy(), 20));
      },
    }),
    ...failed("MODEL_FAILED", /its answer broke off/, 3, [300, 30]),
  },
  "success without a body": {
    reply: always(raw("", { "content-type": "application/json" })),
    ...estimated(/its answer is empty/, 1),
  },
  "vLLM: a call as text, since no parser is set": {
    ...failed("MODEL_FAILED", /is the call of a tool as text, .*--enable-auto-tool-choice of vLLM/, 1, [100, 10]),
    reply: always(says(`I look.\n<tool_call>\n{"name": "${LIST}", "arguments": {}}\n</tool_call>`)),
  },
  "Mistral: a call as text": {
    ...failed("MODEL_FAILED", /is the call of a tool as text/, 1, [100, 10]),
    reply: always(says(`[TOOL_CALLS][{"name": "${LIST}", "arguments": {}}]`)),
  },
  "Llama: a call as text in a stream": {
    ...failed("MODEL_FAILED", /is the call of a tool as text/, 1, [100, 10]),
    reply: always(
      events(delta({ content: "<|python_tag|>" }), delta({ content: `{"name": "${LIST}"}` }, "stop"), USED, "[DONE]"),
    ),
  },
  "a text that only names the mark of a call": {
    ...done(1, "It writes <tool_call> where it calls."),
    reply: always(says("It writes <tool_call> where it calls.")),
  },
};
