import { expect, test } from "vitest";
import { waitOf } from "../../../../../services/core-objects/runs/apart/retry-after.js";

const NOW = Date.parse("2026-05-01T10:00:00Z");
const wait = (headers: Record<string, string>): number | undefined => waitOf(new Headers(headers), NOW);

test.each<[Record<string, string>, number | undefined]>([
  [{}, undefined],
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "1.5" }, 1_500],
  [{ "retry-after": "Fri, 01 May 2026 10:01:00 GMT" }, 60_000],
  [{ "retry-after": "Fri, 01 May 2026 09:00:00 GMT" }, 0],
  [{ "retry-after-ms": "20", "retry-after": "7" }, 20],
  [{ "x-ratelimit-reset-requests": "20ms", "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
  [{ "anthropic-ratelimit-tokens-reset": "2026-05-01T10:00:30Z" }, 30_000],
  [{ "x-ratelimit-reset": String(NOW / 1_000 + 5) }, 5_000],
  [{ "x-ratelimit-reset": String(NOW + 5_000) }, 5_000],
  [{ "retry-after": "999999999" }, 86_400_000],
  [{ "retry-after": "-3" }, undefined],
  [{ "retry-after": "soon" }, undefined],
])("%j is waited for %j ms", (headers, ms) => {
  expect(wait(headers)).toBe(ms);
});
