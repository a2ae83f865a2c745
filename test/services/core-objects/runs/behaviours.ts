import { setTimeout as sleep } from "node:timers/promises";
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
  ONE,
  refusal,
  SECOND,
  says,
  toolThen,
  UNPRICED,
  USAGE,
  USED,
} from "./replies.js";

// What services of models do, one row a behaviour: what it answers to its nth request, and what becomes of the run.

/** By name, which is the model's name too. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  "stop with a text": { reply: always(says("Done.")), ...done(1) },
  "no finish reason": { reply: always(says("Done.", null)), ...done(1) },
  "an unknown finish reason": { reply: always(says("Done.", "eos_token_of_ours")), ...done(1) },
  "cut once, then whole": { reply: (n) => (n === 0 ? says("One, ", "length") : says("two.")), ...done(2, "One, two.") },
  "cut by max_tokens, then whole": {
    reply: (n) => (n === 0 ? says("One, ", "max_tokens") : says("two.")),
    ...done(2, "One, two."),
  },
  "cut for ever": {
    reply: always(says("x", "length")),
    ...failed("CUT", /not complete: it reached the model's maximum length 5 times/, 5, [500, 50]),
    output: "xxxxx",
  },
  "cut before it wrote anything": {
    reply: always(says("", "length")),
    ...failed("CUT", /reached its maximum length before it wrote an answer/, 1, [100, 10]),
  },
  filtered: {
    reply: always(says("The begin", "content_filter")),
    ...failed("FILTERED", /provider of the model .* filtered its answer/, 1, [100, 10]),
    output: "The begin",
  },
  "filtered with a call": {
    reply: always(choice({ content: "", tool_calls: [callOf("a", LIST)] }, "SAFETY")),
    ...failed("FILTERED", /filtered its answer/, 1, [100, 10]),
  },
  "refused in its own field": {
    reply: always(choice({ content: null, refusal: "I cannot help with that." })),
    ...failed("REFUSED", /refused the task, and said: I cannot help with that\./, 1, [100, 10]),
    output: "I cannot help with that.",
  },
  "refused by its finish reason": {
    reply: always(says("", "refusal")),
    ...failed("REFUSED", /refused the task/, 1, [100, 10]),
  },
  "refused in a part": {
    reply: always(says([{ type: "refusal", refusal: "No." }])),
    ...failed("REFUSED", /and said: No\./, 1, [100, 10]),
    output: "No.",
  },
  "an error as finish reason": {
    reply: always(says("The begin", "error")),
    ...failed("MODEL_FAILED", /failed while it answered/, 1, [100, 10]),
    output: "The begin",
  },
  "empty once": { reply: (n) => (n === 0 ? says("") : says("Done.")), ...done(2) },
  "empty for ever": {
    reply: always(says(null)),
    ...failed("EMPTY", /empty answer 2 times/, 2, [200, 20]),
  },
  "tool_calls without a call": {
    reply: always(choice({ content: "", tool_calls: [] }, "tool_calls")),
    ...failed("EMPTY", /empty answer 2 times/, 2, [200, 20]),
  },
  "content in parts, with thoughts": {
    reply: always(
      says([
        { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
        { type: "text", text: "Do" },
        { type: "output_text", text: { value: "ne." } },
      ]),
    ),
    ...done(1),
  },
  "thoughts in front of the text": { reply: always(says("<think>Hm.</think>\n\nDone.")), ...done(1) },
  "content as an object": { reply: always(says({ text: "Done." })), ...done(1) },
  "arguments as an object, no id, no type": {
    reply: toolThen(choice({ content: null, tool_calls: [{ function: { name: LIST, arguments: {} } }] }, "tool_calls")),
    ...done(2),
  },
  "the function_call of before": {
    reply: toolThen(choice({ content: null, function_call: { name: LIST, arguments: "{}" } }, "function_call")),
    ...done(2),
  },
  "tool use as a part": {
    reply: toolThen(says([{ type: "tool_use", id: "t1", name: LIST, input: {} }], "tool_use")),
    ...done(2),
  },
  "parallel calls with one id": {
    reply: toolThen(choice({ content: null, tool_calls: [callOf("c", LIST), callOf("c", LIST)] }, "tool_calls")),
    ...done(2),
  },
  "a call that is cut": {
    reply: toolThen(choice({ content: null, tool_calls: [callOf("c", LIST, '{"query": "a')] }, "length")),
    ...done(2),
  },
  "a stream": {
    reply: always(events(delta({ content: "Do" }), delta({ content: "ne." }, "stop"), USED, "[DONE]")),
    ...done(1),
  },
  "a stream of calls with gaps": {
    reply: toolThen(
      events(
        delta({ tool_calls: [{ index: 1, id: "a", function: { name: LIST, arguments: "" } }] }),
        delta({ tool_calls: [{ index: 1, function: { arguments: '{"page' } }] }),
        delta({ tool_calls: [{ index: 1, function: { arguments: '_size":1}' } }] }),
        delta({ tool_calls: [{ index: 4, id: "b", function: { name: LIST, arguments: "{}" } }] }, "tool_calls"),
        USED,
        "[DONE]",
      ),
    ),
    ...done(2),
  },
  "a stream that breaks off": {
    reply: always(events(delta({ content: "Do" }))),
    state: "FAILED",
    reason: "MODEL_FAILED",
    says: /its answer broke off/,
    requests: 3,
  },
  "an error in a stream": {
    reply: always(events(delta({ content: "Do" }), { error: { message: "upstream fell over", code: 400 } })),
    state: "FAILED",
    reason: "MODEL_FAILED",
    says: /it answered: upstream fell over/,
    requests: 1,
  },
  "no streams": {
    reply: (_n, { stream }) => (stream ? refusal(400, { message: "stream is not supported" }) : says("Done.")),
    state: "COMPLETED",
    output: "Done.",
    requests: 2,
    tokens: [100, 10],
    cost: ONE,
  },
  "a slow stream": {
    reply: always({
      async respond(response) {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const word of ["D", "o", "n", "e", "."]) {
          response.write(`: wait\n\ndata: ${JSON.stringify(delta({ content: word }))}\r\n\r\n`);
          await sleep(300);
        }
        response.end(`data: ${JSON.stringify(delta({}, "stop"))}\n\ndata: ${JSON.stringify(USED)}\n\ndata: [DONE]\n\n`);
      },
    }),
    ...done(1),
  },
  "429 with seconds": {
    reply: (n) => (n === 0 ? refusal(429, { message: "slow down" }, { "retry-after": "1" }) : says("Done.")),
    state: "COMPLETED",
    output: "Done.",
    requests: 2,
    tokens: [100, 10],
    cost: ONE,
  },
  "429 with six seconds, without a worker": {
    reply: (n) =>
      n === 0 ? refusal(429, { message: "slow down" }, { "x-ratelimit-reset-requests": "6s" }) : says("Done."),
    state: "COMPLETED",
    output: "Done.",
    requests: 2,
    tokens: [100, 10],
    cost: ONE,
  },
  "429 for longer than the run may take": {
    reply: always(refusal(429, { message: "slow down" }, { "retry-after": "7200" })),
    ...failed("MODEL_FAILED", /asked again in 7200 seconds, which is more than the run's time limit leaves/, 1, [0, 0]),
  },
  "429 because the quota is used up": {
    reply: always(refusal(429, { message: "You exceeded your current quota", code: "insufficient_quota" })),
    ...failed("MODEL_FAILED", /exceeded your current quota/, 1, [0, 0]),
  },
  "529, then an answer": {
    reply: (n) => (n === 0 ? refusal(529, { message: "overloaded" }, { "retry-after-ms": "50" }) : says("Done.")),
    state: "COMPLETED",
    output: "Done.",
    requests: 2,
    tokens: [100, 10],
    cost: ONE,
  },
  "500 for ever": {
    reply: always(refusal(500, { message: "oops" })),
    ...failed("MODEL_FAILED", /HTTP 500 oops/, 3, [0, 0]),
  },
  "a wrong request": {
    reply: always(refusal(400, { message: "unknown parameter" })),
    ...failed("MODEL_FAILED", /HTTP 400 unknown parameter/, 1, [0, 0]),
  },
  "a wrong credential": {
    reply: always(refusal(401, { message: "no" })),
    ...failed("MODEL_FAILED", /refused the credential \(HTTP 401\)/, 1, [0, 0]),
  },
  "an error with success": {
    reply: always(json({ error: { message: "no such model", code: 404 } })),
    state: "FAILED",
    reason: "MODEL_FAILED",
    says: /it answered: no such model/,
    requests: 1,
  },
  "what is not JSON": {
    reply: always(json("<html>Bad gateway</html>")),
    state: "FAILED",
    reason: "MODEL_FAILED",
    says: /its answer is not JSON/,
    requests: 1,
  },
  "JSON without a message": {
    reply: always(json({ choices: [] })),
    state: "FAILED",
    reason: "MODEL_FAILED",
    says: /contains no message/,
    requests: 1,
  },
  "a stream that breaks off after its usage": {
    reply: always(events(delta({ content: "Do" }), USED)),
    ...failed("MODEL_FAILED", /its answer broke off/, 3, [300, 30]),
  },
  "an error in a stream after its usage": {
    reply: always(events(USED, { error: { message: "upstream fell over", code: 400 } })),
    ...failed("MODEL_FAILED", /it answered: upstream fell over/, 1, [100, 10]),
  },
  "unreadable once it was paid": {
    reply: always(json({ choices: [], usage: USAGE })),
    ...failed("MODEL_FAILED", /contains no message/, 1, [100, 10]),
  },
  "broken off once, then an answer": {
    reply: (n) => (n === 0 ? events(delta({ content: "Do" }), USED) : says("Done.")),
    ...done(2),
  },
  "tokens from the cache": {
    reply: always(says("Done.", "stop", { ...USAGE, prompt_tokens_details: { cached_tokens: 80 } })),
    ...done(1),
    cost: 0.00018,
  },
  "tokens of the cache beside the input": {
    reply: always(
      says("Done.", "stop", {
        ...{ input_tokens: 15, cache_creation_input_tokens: 5, cache_read_input_tokens: 80, output_tokens: 10 },
      }),
    ),
    ...done(1),
    cost: 0.00018,
  },
  [UNPRICED]: { reply: always(says("Done.")), ...done(1), cost: null },
  "no usage": { reply: always(says("Done.", "stop", null)), state: "COMPLETED", output: "Done.", requests: 1 },
  "tokens by other names": {
    reply: always(says("Done.", "stop", { input_tokens: "100", output_tokens: 10 })),
    ...done(1),
  },
  "a wrong credential, and a fallback model": {
    reply: always(refusal(401, { message: "no" })),
    ...done(1),
    agent: { fallbackModel: SECOND },
  },
  "500 for ever, and a fallback model": {
    reply: always(refusal(500, { message: "oops" })),
    ...{ ...done(1), requests: 3 },
    agent: { fallbackModel: SECOND },
  },
  "too busy for long, and a fallback model": {
    reply: always(refusal(429, { message: "slow down" }, { "retry-after": "600" })),
    ...done(1),
    agent: { fallbackModel: SECOND },
  },
  "refused, and a fallback model that is not asked": {
    reply: always(says("", "refusal")),
    ...failed("REFUSED", /refused the task/, 1, [100, 10]),
    agent: { fallbackModel: SECOND },
  },
  "a budget that is too small for the first request": {
    reply: always(says("Done.")),
    state: "FAILED",
    reason: "BUDGET",
    says: /it took 0 tokens of its 100, and its next request takes about \d+: give it a smaller task, or a higher max_tokens/,
    requests: 0,
    tokens: [0, 0],
    trigger: { maxTokens: 100 },
  },
  "a budget that is used up on the way": {
    reply: always(
      choice({ content: "I look.", tool_calls: [callOf("a", LIST)] }, "tool_calls", {
        ...{ prompt_tokens: 9_000, completion_tokens: 500 },
      }),
    ),
    ...{ state: "FAILED", reason: "BUDGET", says: /it cost 0\.023 EUR of its 0\.025 EUR/, output: "I look." },
    ...{ requests: 1, tokens: [9_000, 500], cost: 0.023 },
    trigger: { maxCost: 0.025 },
  },
  "too long on the way, then an answer to less": {
    reply: (n) =>
      n < 4
        ? choice({ content: null, tool_calls: [callOf(`c${n}`, LIST)] }, "tool_calls")
        : n === 4
          ? refusal(400, { message: "the context window is exceeded" })
          : says("Done."),
    ...done(5),
    requests: 6,
  },
  "too long from the beginning": {
    reply: always(refusal(400, { message: "This model's maximum context length is 500 tokens." })),
    ...failed(
      "MODEL_FAILED",
      /reads 500 tokens at a time, and the agent's instructions, tools and task do not fit/,
      1,
      [0, 0],
    ),
  },
  "a parameter that is refused": {
    reply: always(refusal(400, { message: "Unsupported value: 'temperature' is not 0", param: "temperature" })),
    ...failed(
      "MODEL_FAILED",
      /it refused temperature .* change or omit temperature in the parameters of the agent/,
      1,
      [0, 0],
    ),
    agent: { parameters: { temperature: 0 } },
  },
  "a parameter that has a newer name": {
    reply: (_n, asked) =>
      "max_tokens" in asked ? refusal(400, { message: "Use 'max_completion_tokens' instead." }) : says("Done."),
    ...done(1),
    requests: 2,
    agent: { parameters: { maxOutputTokens: 50 } },
  },
  "silent for ever": {
    reply: always("never"),
    state: "TIMED_OUT",
    reason: "TIMEOUT",
    says: /longer than 6 seconds/,
    requests: 1,
    tokens: [0, 0],
    timeoutSeconds: 6,
  },
};
