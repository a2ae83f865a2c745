import type { ServerResponse } from "node:http";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSandbox as startAev } from "../../services/sandbox/aev/server.js";
import { startSandbox as startCti } from "../../services/sandbox/cti/server.js";
import { startSandbox as startGrc } from "../../services/sandbox/grc/server.js";
import type { Sandbox } from "../../services/sandbox/sandbox.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../services/shared/tools/tools.js";
import { KnownIds } from "../hold/worst/known.js";
import { plainRequest } from "../hold/worst/plain.js";
import { post } from "../support/mcp.js";
import { type Asked, type Hostile, startHostile } from "../support/platforms/hostile.js";
import { freePorts, type Program, startProgram } from "../support/program.js";

// A tool that only reads changes nothing, so that its errors do not speak of
// changes: neither as a field nor in words. Every reading tool of every server
// is called with ids of nothing, and while its platform refuses or fails, at
// the first exchange and at the second. The calls are generated.

const OUTCOME = "sallyport/write_outcome";
/** Sentences that say what became of a change. */
const OF_A_CHANGE =
  /\bnothing (?:was|has been|of (?:this|it) was|is) (?!read\b|found\b)\w+|may or may not have been|part of the change|before you try again|all the same/i;

const TOOLS = readTools(readImage());
const NOWHERE = "0198c2a4-0000-7000-8000-000000000000";

/** What asks who is calling: it is answered, so that a call gets further. */
const IDENTITY: Readonly<Record<string, (asked: Asked) => boolean>> = {
  cti: ({ body }) => body.includes("query Me"),
  aev: ({ path }) => path.startsWith("/api/me"),
  grc: ({ path }) => path.startsWith("/api/iam/current-user/") || path.startsWith("/api/folders/"),
};
const PLATFORMS = Object.keys(IDENTITY);

const json = (status: number, body: unknown) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const FAULTS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  "too many requests": json(429, {}),
  "a failure": json(500, { message: "x" }),
  "a refusal": json(403, { errors: [{ message: "x", extensions: { code: "FORBIDDEN_ACCESS" } }], data: null }),
  "no such thing": json(404, { errors: [{ message: "x", extensions: { code: "RESOURCE_NOT_FOUND" } }], data: null }),
  "another shape": json(200, { data: {}, content: 7, results: 7 }),
};

const hostiles = new Map<string, Hostile>();
const started: { close(): Promise<void> }[] = [];
let program: Program;

beforeAll(async () => {
  const [port] = await freePorts(1);
  const trust = `http://127.0.0.1:${port}`;
  const options = { host: "127.0.0.1", port: 0, trust };
  const env: Record<string, string> = {
    PORT: String(port),
    BASE_URL: trust,
    GRC_AUTH: "bearer",
    CALL_BURST: "1000000",
  };
  const sandboxes: Readonly<Record<string, Promise<Sandbox>>> = {
    cti: startCti(options),
    aev: startAev(options),
    grc: startGrc(options),
  };
  for (const [server, starting] of Object.entries(sandboxes)) {
    const [sandbox, hostile] = [await starting, await startHostile()];
    started.push(sandbox, hostile);
    hostile.towards = sandbox.url;
    hostiles.set(server, hostile);
    env[`${server.toUpperCase()}_URL`] = hostile.url;
    env[`${server.toUpperCase()}_PUBLIC_URL`] = sandbox.url;
  }
  program = await startProgram({ env: { ...env, USER_CALL_BURST: "1000000" } });
});
afterAll(async () => {
  await program?.stop();
  for (const one of started) await one.close();
});

const ask = async ({ server, name }: Tool, args: JsonObject) => {
  const { baseUrl, bootstrap } = program;
  const { body } = await post(`${baseUrl}/mcp/${server}`, bootstrap.admin.api_key, "tools/call", {
    name,
    arguments: args,
  });
  return body;
};
type Answered = Awaited<ReturnType<typeof ask>>;

/** The sentence of an error; undefined for a result. */
function saidIn({ result, error }: Answered): string | undefined {
  if (error !== undefined) return error.message;
  return result?.isError === true ? (result.content as { text: string }[])[0]?.text : undefined;
}

/** What an error says of changes, if it is one. */
function wrongIn(answered: Answered): string | undefined {
  const said = saidIn(answered);
  const has = JSON.stringify([answered.result?._meta, answered.error?.data]).includes(OUTCOME);
  return said !== undefined && (has || OF_A_CHANGE.test(said)) ? `${has ? "[field] " : ""}${said}` : undefined;
}

/** Ids of things that there are, where tools find some. */
async function knownIds(tool: Tool): Promise<JsonObject> {
  const found = new KnownIds(TOOLS, async (giver, args) => (await ask(giver, args)).result?.structuredContent);
  return plainRequest(tool.method.input, await found.of(tool), "one");
}

test.each(["cti", "aev", "grc", "core"])(
  "no error of a reading tool of %s speaks of a change",
  { timeout: 120_000 },
  async (server) => {
    const hostile = hostiles.get(server);
    const reading = TOOLS.filter((tool) => tool.server === server && tool.readOnly);
    expect(reading.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    const failed = new Set<string>();
    const look = (tool: Tool, what: string, answered: Answered) => {
      if (saidIn(answered) !== undefined) failed.add(tool.name);
      const said = wrongIn(answered);
      if (said !== undefined) wrong.push(`${tool.name}, ${what}: ${said}`);
    };
    for (const tool of reading) {
      hostile?.disarm();
      look(
        tool,
        "ids of nothing",
        await ask(
          tool,
          plainRequest(tool.method.input, ({ name }) => (/id$/.test(name) ? NOWHERE : undefined), "one"),
        ),
      );
      look(tool, "a wrong argument", await ask(tool, { no_such_argument: 1 }));
      if (hostile === undefined) continue;
      const args = await knownIds(tool);
      for (const [fault, answer] of Object.entries(FAULTS)) {
        for (const first of [1, 2]) {
          hostile.arm(
            (asked) => !IDENTITY[server]?.(asked),
            (response, n) => (n < first ? false : answer(response)),
          );
          look(tool, `${fault} at exchange ${first}`, await ask(tool, args));
        }
      }
    }
    hostile?.disarm();
    expect(wrong, wrong.join("\n")).toEqual([]);
    expect(failed.size).toBe(reading.length);
  },
);

test("the generated check finds what it looks for", () => {
  const answered = (text: string, _meta?: object) => ({ result: { isError: true, content: [{ text }], _meta } });
  expect(wrongIn(answered("object_ids: nothing was written, because there is none") as Answered)).toBeDefined();
  expect(wrongIn(answered("it failed; the change may or may not have been made") as Answered)).toBeDefined();
  expect(wrongIn(answered("it failed", { [OUTCOME]: "unchanged" }) as Answered)).toBeDefined();
  expect(wrongIn(answered("it failed; try again") as Answered)).toBeUndefined();
  expect(PLATFORMS).toEqual([...hostiles.keys()]);
});
