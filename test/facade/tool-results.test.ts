import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { legacy, modern, post } from "./support/client.js";
import { type Started, start } from "./support/start.js";

let server: Started;
let endpoint: string;

beforeAll(async () => {
  server = await start();
  endpoint = `${server.url}/mcp/cti`;
});
afterAll(() => server.close());

async function call(name: string, args: unknown, url = endpoint) {
  const { body, headers } = modern("tools/call", { name, arguments: args });
  return (await post(url, body, headers)).json;
}

test.each([
  ["an unknown argument", { wrod: "x" }, 'unknown argument "wrod": did you mean "word"?'],
  ["an argument of no known name", { zzzzzz: 1 }, 'unknown argument "zzzzzz": known arguments are sighting, word'],
  ["a wrong type", { word: 5 }, "word: must be a string, not 5"],
  ["a wrong word", { sighting: { severity: "awful" } }, 'sighting.severity: "awful" is not one of low, high'],
  [
    "a fault deep inside",
    { sighting: { parts: [{}, { count: "x" }] } },
    "sighting.parts[1].count: must be a whole number",
  ],
  ["a bad time", { sighting: { seen_at: "yesterday" } }, 'sighting.seen_at: "yesterday" is not a time such as'],
  [
    "two of one choice",
    { sighting: { sensor: "a", analyst: {} } },
    "sighting.analyst: cannot be given together with sensor",
  ],
  ["a rule of the service", { word: "much too long" }, "word: must be at most 10 characters"],
])("%s is a result that names it", async (_what, args, text) => {
  const { result } = await call("echo_sighting", args);
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toContain(text);
  expect("structuredContent" in result).toBe(false);
});

test("null is not given, camel case and JSON in text are understood", async () => {
  const { result } = await call("echo_sighting", {
    word: null,
    sighting: '{"seenAt":"2026-01-01T00:00:00Z","ports":"[1,2]"}',
  });
  expect(result.structuredContent.sighting).toMatchObject({ seen_at: "2026-01-01T00:00:00Z", ports: [1, 2] });
});

test.each([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.FailedPrecondition,
  Code.Aborted,
  Code.OutOfRange,
  Code.ResourceExhausted,
  Code.Unavailable,
  Code.Unimplemented,
])("code %s of a service is a result the model can act on", async (code) => {
  const { result } = await call("fail_sighting", { code });
  const old = legacy("tools/call", { name: "fail_sighting", arguments: { code } });
  const { result: ofOld } = (await post(endpoint, old.body, old.headers)).json;
  const text = expect.stringMatching(/^what went wrong and what to do(; [^;]+)?$/);
  expect(result).toMatchObject({ isError: true, content: [{ text }] });
  const outcome = code === Code.Unavailable ? "unknown" : "unchanged";
  expect(result._meta).toMatchObject({ "sallyport/write_outcome": outcome });
  expect(ofOld).toEqual({
    content: result.content,
    isError: true,
    _meta: { "sallyport/write_outcome": outcome },
  });
});

test.each([0, Code.Internal, Code.Unknown, Code.DataLoss])(
  "a fault (%s) is an error that tells nothing",
  async (code) => {
    const { error } = await call("fail_sighting", { code });
    expect(error.code).toBe(-32603);
    expect(JSON.stringify(error)).not.toMatch(/secret|went wrong/);
    expect(error.data).toEqual({ "sallyport/write_outcome": "unknown" });
    const old = legacy("tools/call", { name: "fail_sighting", arguments: { code } });
    expect((await post(endpoint, old.body, old.headers)).json.error.code).toBe(-32603);
  },
);

test("a result above 40 KB is cut at an item, and says how to get the rest", async () => {
  const { result } = await call("page_sightings", { page_size: 1_000 });
  const { structuredContent: cut, content } = result;
  expect(content[0].text.length).toBeLessThanOrEqual(40 * 1024);
  expect(content[0].text.length).toBeGreaterThan(38 * 1024);
  expect(JSON.parse(content[0].text)).toEqual(cut);
  expect(cut).toMatchObject({ truncated: true, total_size: 100_000 });
  expect(cut).not.toHaveProperty("next_page_token");
  const kept = cut.sightings.length;
  expect(cut.sightings.at(-1).id).toBe(`sighting-${kept - 1}`);
  expect(cut.truncated_hint).toContain(`first ${kept} of 1000`);
  expect(cut.truncated_hint).toContain(`page_size ${kept}`);
  const whole = (await call("page_sightings", { page_size: kept })).result.structuredContent;
  expect(whole.sightings).toEqual(cut.sightings);
  expect("truncated" in whole).toBe(false);
});
