import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TargetKind } from "#proto/aev/v1/result_pb.js";
import { ScoredRequirementSchema } from "#proto/grc/v1/control_service_pb.js";
import { toTargets } from "../../services/platform-proxy/platforms/aev/results.js";
import { refusalOf as refusalOfCti } from "../../services/platform-proxy/platforms/cti/errors.js";
import { compileDecode } from "../../services/shared/tools/codec/decode.js";
import { operationOf } from "../../services/traces/gen-ai.js";
import { legacy, modern, post } from "./support/client.js";
import { type Started, start } from "./support/start.js";

// What every object of JavaScript has: names that a caller, or a platform, may
// choose, and that must mean here what any other unknown name means.

const INHERITED = ["__proto__", ...Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__")];
const STRANGER = "stranger";

let server: Started;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.close());

/** An object with one member of this name of its own, as JSON.parse makes it. */
const holding = (name: string, value: unknown = "x") =>
  JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`);

async function answers(url: string, message: { body: object; headers: Record<string, string> }, name: string) {
  const { status, text } = await post(url, message.body, { ...message.headers, authorization: "Bearer good" });
  return { status, text: text.replaceAll(name, "NAME") };
}

describe.each([
  ["2026-07-28", modern],
  ["2025-11-25", legacy],
])("%s", (_era, era) => {
  const doors: Readonly<Record<string, (name: string) => ReturnType<typeof answers>>> = {
    "a server": (name) => answers(`${server.url}/mcp/${name}`, era("tools/list"), name),
    "a method": (name) => answers(`${server.url}/mcp/cti`, era(name), name),
    "a tool": (name) => answers(`${server.url}/mcp/cti`, era("tools/call", { name, arguments: {} }), name),
    "an argument": (name) =>
      answers(`${server.url}/mcp/cti`, era("tools/call", { name: "echo_sighting", arguments: holding(name) }), name),
    "a toolset": (name) => answers(`${server.url}/mcp/cti?toolsets=${name}`, era("tools/list"), name),
    "a parameter of the URL": (name) => answers(`${server.url}/mcp/cti?${name}=1`, era("tools/list"), name),
    "a path": (name) => answers(`${server.url}/${name}`, era("tools/list"), name),
    "an rpc": (name) => answers(`${server.url}/rpc/${name}/${name}`, era("tools/list"), name),
  };
  test.each(Object.keys(doors))("an inherited name is as unknown as any other for %s", async (door) => {
    const answer = doors[door] as (name: string) => ReturnType<typeof answers>;
    const ordinary = await answer(STRANGER);
    // A message with such a member is refused as a whole: test/facade/ambiguous-json.test.ts has the vectors.
    const names = door === "an argument" ? INHERITED.filter((name) => name !== "__proto__") : INHERITED;
    for (const name of names) expect({ name, ...(await answer(name)) }).toEqual({ name, ...ordinary });
  });
});

test.each(INHERITED)("%s is no number", (name) => {
  const decode = compileDecode(ScoredRequirementSchema);
  expect(() => decode({ score: name } as JsonObject)).toThrow(/score: must be a number/);
});

test.each(INHERITED)("%s as a platform's error code is an error like any other", (code) => {
  const unknown = refusalOfCti([{ message: "no", extensions: { code: STRANGER } }], "a@b.c");
  expect(refusalOfCti([{ message: "no", extensions: { code } }], "a@b.c")).toMatchObject({
    code: unknown.code,
    rawMessage: unknown.rawMessage,
  });
  expect(Code[unknown.code]).toBeDefined();
});

test.each(INHERITED)("%s as the word of a span or of a platform stays that word", (name) => {
  const span = new Map([["openinference.span.kind", name]]);
  expect(operationOf((key) => span.get(key))).toBe(name);
  expect(toTargets([{ target_id: "1", target_name: "one", target_type: name }])[0]?.kind).toBe(TargetKind.UNSPECIFIED);
});
