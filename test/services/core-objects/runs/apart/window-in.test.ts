import { expect, test } from "vitest";
import { windowIn } from "../../../../../services/core-objects/runs/apart/window-in.js";

test.each([
  ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 8_192],
  ["This endpoint's maximum context length is 128,000 tokens", 128_000],
  ["prompt is too long: 210345 tokens > 200000 maximum", 200_000],
  ["Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300120 tokens.", 272_000],
  ["the request exceeds the available context size (4096 tokens)", 4_096],
  ["the context window is exceeded", undefined],
  ["maximum context length is 3 tokens", undefined],
  [`maximum context ${"9".repeat(100_000)}`, undefined],
])("%.60s", (words, tokens) => {
  expect(windowIn(words)).toBe(tokens);
});
