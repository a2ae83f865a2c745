import { expect, test } from "vitest";
import { json, type ServeOptions, serve } from "../../../services/sandbox/http.js";

const LATENCY_MS = 150;

/** A platform that answers at once. */
const PLATFORM: ServeOptions = {
  host: "127.0.0.1",
  port: 0,
  maxBodyBytes: 1_024,
  answer: async () => json(200, { ok: true }),
  isWrite: () => false,
  kept: { changed: () => undefined, close: async () => undefined },
};

test("a platform with a latency delays every answer by it, and answers as before", async () => {
  const platform = await serve({ ...PLATFORM, latencyMs: LATENCY_MS });
  try {
    const since = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const response = await fetch(platform.url);
        return { value: await response.json(), ms: performance.now() - since };
      }),
    );
    for (const { value, ms } of answers) {
      expect(value).toEqual({ ok: true });
      // Timers may fire a millisecond early.
      expect(ms).toBeGreaterThanOrEqual(LATENCY_MS - 2);
    }
  } finally {
    await platform.close();
  }
});
