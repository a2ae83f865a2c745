import { afterAll, beforeAll, expect, test } from "vitest";
import { AMBIGUOUS, PLAIN } from "../vectors/json.js";
import { legacy, modern, post } from "./support/client.js";
import { onEachEdge } from "./support/edges.js";
import type { Started } from "./support/start.js";

const call = (args: string) =>
  `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo_sighting","arguments":${args}}}`;

onEachEdge((edge) => {
  let server: Started;
  beforeAll(async () => {
    server = await edge.start();
  });
  afterAll(() => server.close());
  const send = (body: string) => post(`${server.url}/mcp/cti`, body, { "mcp-protocol-version": "2025-11-25" });

  test.each(AMBIGUOUS.filter((text) => text.startsWith("{")))("arguments %s are refused with the id", async (args) => {
    const { status, json } = await send(call(args));
    expect([status, json.id, json.error.data.error]).toEqual([400, 5, "ambiguous_message"]);
    expect(json.error.message).toMatch(/because it has .*Nothing was called/);
  });

  test.each(PLAIN.filter((text) => text.startsWith("{")))("arguments %s are read", async (args) => {
    const { json } = await send(call(args));
    expect(json.error?.data?.error).toBeUndefined();
  });

  test.each([
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"tools/list"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}',
    '{"jsonrpc":"2.0","ID":1,"id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo_sighting","Name":"drop_sighting"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo_sighting","ARGUMENTS":{}}}',
    '[{"jsonrpc":"2.0","id":1,"METHOD":"x","method":"ping"}]',
  ])("the envelope %s is refused", async (body) => {
    const { status, json } = await send(body);
    expect([status, json.error.data.error]).toEqual([400, "ambiguous_message"]);
  });

  test.each([
    ["a byte order mark", '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ["what follows the message", '{"jsonrpc":"2.0","id":1,"method":"ping"}{}'],
    ["a comment", '{"jsonrpc":"2.0","id":1,"method":"ping"/**/}'],
    ["a comma at the end", '{"jsonrpc":"2.0","id":1,"method":"ping",}'],
    ["NaN", '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
    ["an id that readers round", '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'],
    ["an id out of range", '{"jsonrpc":"2.0","id":1e400,"method":"ping"}'],
  ])("%s is refused", async (_what, body) => {
    const { status, json } = await send(body);
    expect([status, typeof json.error.message]).toEqual([400, "string"]);
  });

  test("what is not UTF-8 is refused, short or long", async () => {
    for (const room of [1, 100_000]) {
      const text = Buffer.from(call(`{"word":"${"x".repeat(room)}\u00e9"}`), "latin1");
      const reply = await fetch(`${server.url}/mcp/cti`, {
        method: "POST",
        headers: { authorization: "Bearer good", "content-type": "application/json" },
        body: text,
      });
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining("Parse error")]);
    }
    expect((await send(call('{"word":"\ufffd"}'))).json.result.structuredContent.word).toBe("\ufffd");
  });

  test("both eras go on as before", async () => {
    for (const { body, headers } of [modern("tools/list"), legacy("ping")]) {
      expect((await post(`${server.url}/mcp/cti`, body, headers)).status).toBe(200);
    }
  });
});
