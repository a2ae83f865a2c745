import { afterAll, beforeAll, expect, test } from "vitest";
import { legacy, modern, post } from "./support/client.js";
import { type Started, start } from "./support/start.js";

let server: Started;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.close());

test.each([
  ["2026-07-28", modern],
  ["2025-11-25", legacy],
])(
  "%s: what hides in a platform's text is shown in both forms of the result, and turned back in arguments",
  async (_era, era) => {
    for (const word of ["a\u202Eb", "a‹U+202E›b"]) {
      const { body, headers } = era("tools/call", { name: "echo_sighting", arguments: { word } });
      const { json, text } = await post(`${server.url}/mcp/cti`, body, headers);
      expect(text).not.toMatch(/\u202e/);
      expect(json.result.structuredContent.word).toBe("a‹U+202E›b");
      expect(JSON.parse(json.result.content[0].text).word).toBe("a‹U+202E›b");
    }
    // Ten characters at most: shown it has seventeen, meant it has ten.
    const { body, headers } = era("tools/call", { name: "echo_sighting", arguments: { word: "123456789‹U+202E›" } });
    expect((await post(`${server.url}/mcp/cti`, body, headers)).json.result.isError).toBeUndefined();
  },
);

test("an error shows them too", async () => {
  const { body, headers } = modern("tools/call", {
    name: "echo_sighting",
    arguments: { sighting: { severity: "high\u202E" } },
  });
  const { json, text } = await post(`${server.url}/mcp/cti`, body, headers);
  expect(json.result.isError).toBe(true);
  expect(text).not.toMatch(/\u202e/);
});
