import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modern, post } from "./support/client.js";
import { type Started, start } from "./support/start.js";

// What headers repeat of the body, for gateways to route by.

let server: Started;
let endpoint: string;

beforeAll(async () => {
  server = await start();
  endpoint = `${server.url}/mcp/cti`;
});
afterAll(() => server.close());

describe("arguments that headers repeat", () => {
  const route = (args: object, headers: Record<string, string>) => {
    const message = modern("tools/call", { name: "route_sighting", arguments: args });
    return post(endpoint, message.body, { ...message.headers, ...headers });
  };
  test.each([
    [{ region: "eu" }, { "mcp-param-region": "eu" }, true],
    [{ region: "é" }, { "mcp-param-region": "=?base64?w6k=?=" }, true],
    [{ region: "eu", rank: 42 }, { "mcp-param-region": "eu", "mcp-param-rank": "42.0" }, true],
    [{}, {}, true],
    [{ region: null }, {}, true],
    [{ region: "eu" }, { "mcp-param-region": "eu", "mcp-param-other": "x" }, true],
    [{ region: "eu" }, {}, false],
    [{ region: "eu" }, { "mcp-param-region": "EU" }, false],
    [{ region: "eu" }, { "mcp-param-region": "=?base64?!?=" }, false],
    [{ rank: 1 }, { "mcp-param-rank": "2" }, false],
  ])("%j with %j: served is %s", async (args, headers, served) => {
    const { status, json } = await route(args, headers as Record<string, string>);
    if (served) expect(json.result.isError).toBeUndefined();
    else expect({ status, code: json.error.code }).toEqual({ status: 400, code: -32020 });
  });

  test("their names are part of the input schema and of the preflight", async () => {
    const { body, headers } = modern("tools/list");
    const tools = (await post(endpoint, body, headers)).json.result.tools;
    const { inputSchema } = tools.find((tool: { name: string }) => tool.name === "route_sighting");
    expect(inputSchema.properties.region["x-mcp-header"]).toBe("Region");
    const preflight = await fetch(endpoint, { method: "OPTIONS", headers: { origin: "https://mcp.example.com" } });
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Mcp-Param-Region");
  });
});

/** Sends a request whose headers may be given twice. */
function raw(lines: readonly string[], body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, "127.0.0.1");
    let text = "";
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    const all = [
      "host: 127.0.0.1",
      "authorization: Bearer good",
      "content-type: application/json",
      "connection: close",
      ...lines,
    ];
    socket.write(`POST /base/mcp/cti HTTP/1.1\r\n${all.join("\r\n")}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  });
}

test("a header given twice with one value is one, with two values it contradicts the body", async () => {
  const { body } = modern("tools/list");
  const once = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/list"];
  expect(await raw([...once, "mcp-method: tools/list"], JSON.stringify(body))).toMatch(/^HTTP\/1.1 200 OK/);
  const twice = await raw([...once, "mcp-method: tools/call"], JSON.stringify(body));
  expect(twice).toMatch(/^HTTP\/1.1 400 Bad Request/);
  expect(twice).toContain("-32020");
});
