import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { readCommandLine } from "../../../clients/load/command-line.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "load-"));
});
afterEach(() => vi.restoreAllMocks());

const URL_FLAG = ["--url", "http://127.0.0.1:1/mcp/cti"];
const scenarioOf = (argv: readonly string[], env: Record<string, string> = {}) =>
  readCommandLine([...URL_FLAG, ...argv], env)?.scenario;

function fileWith(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

test("a URL is enough", () => {
  expect(scenarioOf([])).toMatchObject({
    shape: "soak",
    stages: [{ seconds: 30, from: 100, to: 100 }],
    warmupSeconds: 2,
    mix: [
      ["list", 1],
      ["call", 9],
    ],
    eras: [
      ["2026-07-28", 1],
      ["2025-11-25", 1],
    ],
    calls: { call: { tool: "whoami", arguments: {} }, progress: { tool: "whoami", arguments: {} } },
    connections: 16,
    keys: [],
    headers: {},
    timeoutMs: 10_000,
    isPrecise: false,
    thresholds: [],
  });
});

test("flags are read", () => {
  const scenario = scenarioOf([
    ...["--shape", "spike", "--rate", "10", "--seconds", "10", "--warmup", "0"],
    ...["--mix", "call=2,progress", "--eras", "2025-11-25", "--tool", "t", "--arguments", '{"a":1}'],
    ...["--progress-tool", "p", "--header", "X-A: 1", "--header", "X-B: two words", "--precise"],
    ...["--threshold", "p99<50ms", "--threshold", "errors<1%", "--timeout", "0.5"],
  ]);
  expect(scenario?.stages.map(({ seconds, from }) => [seconds, from])).toEqual([
    [4, 10],
    [2, 50],
    [4, 10],
  ]);
  expect(scenario).toMatchObject({
    mix: [
      ["call", 2],
      ["progress", 1],
    ],
    eras: [["2025-11-25", 1]],
    calls: { call: { tool: "t", arguments: { a: 1 } }, progress: { tool: "p", arguments: {} } },
    headers: { "x-a": "1", "x-b": "two words" },
    isPrecise: true,
    timeoutMs: 500,
    warmupSeconds: 0,
  });
  expect(scenario?.thresholds.map(({ text }) => text)).toEqual(["p99<50ms", "errors<1%"]);
});

test("a scenario file has the same settings, and a flag overrides it", () => {
  const file = fileWith("scenario.json", {
    stages: "1:10-20,2:20",
    connections: 3,
    arguments: { id: "a" },
    threshold: ["p99<50ms", "errors<1%"],
    precise: true,
  });
  const scenario = scenarioOf(["--scenario", file, "--connections", "5"]);
  expect(scenario).toMatchObject({ shape: "stages", connections: 5, isPrecise: true });
  expect(scenario?.stages).toHaveLength(2);
  expect(scenario?.calls.call.arguments).toEqual({ id: "a" });
  expect(scenario?.thresholds).toHaveLength(2);
});

test("keys come from the file, else from the flag, else from LOAD_KEY", () => {
  const file = fileWith("keys.txt", "one\n\n two \n");
  expect(scenarioOf(["--keys", file, "--key", "flag"], { LOAD_KEY: "env" })?.keys).toEqual(["one", "two"]);
  expect(scenarioOf(["--key", "flag"], { LOAD_KEY: "env" })?.keys).toEqual(["flag"]);
  expect(scenarioOf([], { LOAD_KEY: "env" })?.keys).toEqual(["env"]);
});

test("all that is wrong is said at once, by name", () => {
  const argv = ["--rate", "0", "--mix", "lists=1", "--arguments", "[]", "--threshold", "p99", "--header", "secret"];
  expect(() => readCommandLine(argv, {})).toThrow(
    expect.objectContaining({
      exitCode: 2,
      message: expect.stringMatching(
        /--rate must be .*--mix must be one of list, call, progress.*--arguments must be a JSON object.*--header must be .*--threshold must be .*--url is missing/s,
      ),
    }),
  );
});

test.each([
  ["an unknown flag", ["--rates", "5"], /unknown option '--rates'/],
  ["an argument", ["x"], /unknown argument: x/],
  ["a URL with a password", ["--url", "http://a:b@x/"], /must not have a user name or password/],
  ["another protocol", ["--url", "ftp://x/"], /begins with http/],
  ["a file that does not exist", ["--keys", "/nothing/there"], /--keys: .* cannot be read/],
  ["a header that says where a request ends", ["--header", "Content-Length: 5"], /must not be Content-Length/],
  ["a key with a line end", ["--key", "a\nb"], /no bearer token can have/],
])("%s is refused", (_what, argv, message) => {
  expect(() => scenarioOf(argv)).toThrow(message);
});

test("a scenario file with an unknown member, or a key, is refused", () => {
  expect(() => scenarioOf(["--scenario", fileWith("a.json", { rates: 1 })])).toThrow(/unknown member "rates"/);
  expect(() => scenarioOf(["--scenario", fileWith("b.json", { key: "k" })])).toThrow(/unknown member "key"/);
  expect(() => scenarioOf(["--scenario", fileWith("c.json", "[]")])).toThrow(/one JSON object/);
  expect(() => scenarioOf(["--scenario", fileWith("d.json", "{")])).toThrow(/cannot be read as JSON/);
});

test("help shows every setting with its fallback", () => {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  expect(readCommandLine(["--help"], {})).toBeUndefined();
  expect(written.join("")).toMatch(/--rate <NUMBER>\s+Requests per second\. \[100\]/);
  expect(written.join("")).toMatch(/--mix [\s\S]*\[list=1,call=9\][\s\S]*Exit codes/);
});
