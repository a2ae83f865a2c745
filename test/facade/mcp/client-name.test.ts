import { expect, test } from "vitest";
import { clientNameOf } from "../../../facade/mcp/client-name.js";

test.each([
  [{ name: "claude-code", version: "2.1.245" }, "claude-code 2.1.245"],
  [{ name: "claude-code" }, "claude-code"],
  [{ name: "  spaced \n\t out ", version: " 1 " }, "spaced out 1"],
  [{ name: "safe\u202eevil\u0000\u200b", version: "é1" }, "safeevil 1"],
  [{ name: "n".repeat(1_000_000), version: "v".repeat(1_000_000) }, `${"n".repeat(48)} ${"v".repeat(24)}`],
  [{ name: "日本", version: "1" }, ""],
  [{ name: 7, version: "1" }, ""],
  [{ name: "", version: "1" }, ""],
  [{ version: "1" }, ""],
  [{ name: "a", version: { toString: "1" } }, "a"],
  [[], ""],
  [null, ""],
  [undefined, ""],
  ["claude", ""],
])("of %o the name is %j", (info, name) => {
  expect(clientNameOf(info)).toBe(name);
});
