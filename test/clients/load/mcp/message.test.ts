import { expect, test } from "vitest";
import { INITIALIZE, messageOf } from "../../../../clients/load/mcp/message.js";

const CALL = { tool: "whoami", arguments: { a: 1 } };
const META = "io.modelcontextprotocol";

test("a call of 2026-07-28 has its envelope and headers", () => {
  const { headers, bodyOf } = messageOf("call", "2026-07-28", CALL);
  expect(headers).toEqual({ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "whoami" });
  const body = JSON.parse(bodyOf(7));
  expect(body).toMatchObject({ jsonrpc: "2.0", id: 7, method: "tools/call" });
  expect(body.params).toMatchObject({ name: "whoami", arguments: { a: 1 } });
  expect(body.params._meta).toEqual({
    [`${META}/protocolVersion`]: "2026-07-28",
    [`${META}/clientInfo`]: { name: "sallyport-load", version: "1" },
    [`${META}/clientCapabilities`]: {},
  });
});

test("a list of 2026-07-28 names no tool", () => {
  const { headers, bodyOf } = messageOf("list", "2026-07-28", CALL);
  expect(headers).toEqual({ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" });
  expect(JSON.parse(bodyOf(1)).params).toEqual({ _meta: expect.any(Object) });
});

test("a message of 2025-11-25 has only its version", () => {
  const { headers, bodyOf } = messageOf("call", "2025-11-25", CALL);
  expect(headers).toEqual({ "mcp-protocol-version": "2025-11-25" });
  expect(JSON.parse(bodyOf(3)).params).toEqual({ name: "whoami", arguments: { a: 1 } });
});

test.each(["2026-07-28", "2025-11-25"] as const)("the progress token is the id, in %s", (era) => {
  const { bodyOf } = messageOf("progress", era, CALL);
  for (const id of [1, 2])
    expect(JSON.parse(bodyOf(id))).toMatchObject({ id, params: { _meta: { progressToken: id } } });
});

test("initialize asks for 2025-11-25", () => {
  expect(JSON.parse(INITIALIZE.bodyOf(0)).params.protocolVersion).toBe("2025-11-25");
});
