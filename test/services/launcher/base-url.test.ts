import { expect, test } from "vitest";
import { baseUrlOf, isEveryAddress } from "../../../services/launcher/base-url.js";

test.each([
  ["127.0.0.1", "http://127.0.0.1:8080"],
  ["0.0.0.0", "http://127.0.0.1:8080"],
  ["::", "http://[::1]:8080"],
  ["::1", "http://[::1]:8080"],
  ["fd00::5", "http://[fd00::5]:8080"],
  ["host.example.org", "http://host.example.org:8080"],
])("what listens on %s is shown as %s", (host, shown) => {
  expect(baseUrlOf({ baseUrl: undefined, host }, 8080)).toBe(shown);
  expect(baseUrlOf({ baseUrl: "https://mcp.example.org", host }, 8080)).toBe("https://mcp.example.org");
});

test("only what stands for every address is none to be reached at", () => {
  expect(["0.0.0.0", "::"].every(isEveryAddress)).toBe(true);
  expect(["127.0.0.1", "::1", "fd00::", "localhost"].some(isEveryAddress)).toBe(false);
});
