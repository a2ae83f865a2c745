import { describe, expect, test } from "vitest";
import { createHosts } from "../../../facade/admission/hosts.js";

const published = [new URL("https://mcp.example.com/base"), new URL("http://cti.example.com:8081/mcp")];
const STRANGE = [
  "evil.example",
  "mcp.example.com.evil.example",
  "mcp.example.com:8080",
  "evil@mcp.example.com",
  "",
  undefined,
];

describe.each(["0.0.0.0", "::", "192.0.2.7", "sallyport.internal", "127.0.0.1"])("listening on %s", (address) => {
  const allows = createHosts({ published, named: ["Proxy.internal:9000"], address });

  test.each([
    "mcp.example.com",
    "MCP.Example.com",
    "mcp.example.com:443",
    "cti.example.com:8081",
    "proxy.internal:9000",
  ])("%s is answered", (host) => expect(allows(host)).toBe(true));
  test.each([...STRANGE, "cti.example.com", "proxy.internal", "cti.example.com:80"])("%s is not", (host) =>
    expect(allows(host)).toBe(false),
  );
  test("the names of the machine for itself are answered where only it can call and no hosts are listed", () => {
    const unlisted = createHosts({ published, named: undefined, address });
    for (const host of ["localhost", "127.0.0.1:8080", "[::1]:8080"]) {
      expect(allows(host)).toBe(false);
      expect(unlisted(host)).toBe(address === "127.0.0.1");
    }
  });
});
