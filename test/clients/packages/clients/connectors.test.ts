import { expect, test } from "vitest";
import { hindranceOf } from "../../../../clients/packages/clients/connectors.js";
import { CONNECTORS, MCP_CLIENTS } from "../../../../clients/packages/mcp-clients.js";

test.each([
  "https://sallyport.example.com/mcp/cti",
  "https://8.8.8.8/mcp/cti?toolsets=basic",
  "https://172.15.0.1/mcp/cti",
  "https://172.32.0.1/mcp/cti",
  "https://100.128.0.1/mcp/cti",
  "https://[2606:4700::1111]/mcp/cti",
  "https://local.example.com/mcp/cti",
])("nothing in %s keeps a vendor's cloud from calling it", (url) => {
  expect(hindranceOf(url)).toBeUndefined();
});

test.each([
  ["http://sallyport.example.com/mcp/cti", "the URL of this service is not HTTPS"],
  ["http://127.0.0.1:8080/mcp/cti", "127.0.0.1 is not on the internet"],
  ["https://127.1/mcp/cti", "127.0.0.1 is not on the internet"],
  ["https://0x7f000001/mcp/cti", "127.0.0.1 is not on the internet"],
  ["https://localhost/mcp/cti", "localhost is not on the internet"],
  ["https://a.localhost./mcp/cti", "a.localhost is not on the internet"],
  ["https://sallyport/mcp/cti", "sallyport is not on the internet"],
  ["https://sallyport.corp/mcp/cti", "sallyport.corp is not on the internet"],
  ["https://gate.home.arpa/mcp/cti", "gate.home.arpa is not on the internet"],
  ["https://10.1.2.3/mcp/cti", "10.1.2.3 is not on the internet"],
  ["https://172.16.0.1/mcp/cti", "172.16.0.1 is not on the internet"],
  ["https://192.168.1.1/mcp/cti", "192.168.1.1 is not on the internet"],
  ["https://169.254.1.1/mcp/cti", "169.254.1.1 is not on the internet"],
  ["https://100.64.0.1/mcp/cti", "100.64.0.1 is not on the internet"],
  ["https://[::1]/mcp/cti", "[::1] is not on the internet"],
  ["https://[fd00::1]/mcp/cti", "[fd00::1] is not on the internet"],
  ["https://[fe80::1]/mcp/cti", "[fe80::1] is not on the internet"],
  ["https://[::ffff:10.0.0.1]/mcp/cti", "[::ffff:a00:1] is not on the internet"],
  ["", "this service has no URL"],
])("a vendor's cloud cannot call %s: %s", (url, why) => {
  expect(hindranceOf(url)).toBe(why);
});

test("each says that it signs in, sends no header and calls from outside", () => {
  expect(CONNECTORS.map(({ name }) => name)).toEqual(["claude", "chatgpt"]);
  for (const { notes, steps } of CONNECTORS) {
    const said = notes.map(({ text }) => text).join(" ");
    expect(said).toMatch(/public HTTPS URL/);
    expect(said).toMatch(/OAuth/);
    expect(said).toMatch(/no header/);
    expect(steps).toMatch(/paste the URL/);
  }
  const names = [...MCP_CLIENTS, ...CONNECTORS].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
