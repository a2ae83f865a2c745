import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Key, MCP_CLIENTS } from "../../../../clients/packages/mcp-clients.js";

// The commands, as a real shell splits them into words.

const withCommand = MCP_CLIENTS.filter(({ command }) => command !== undefined);

/** The words that a shell makes of a line, with the variable that it may expand. */
function wordsOf(line: string, env: Readonly<Record<string, string>>): string[] {
  const [program, ...rest] = line.split(" ");
  expect(program).toMatch(/^(?:claude|codex|gemini|copilot|npx)$/);
  const script = `printf '%s\\0' ${rest.join(" ")}`;
  return execFileSync("/bin/sh", ["-c", script], { env, encoding: "utf8" }).split("\0").slice(0, -1);
}

const URLS = ["https://service.example/mcp/cti", "https://service.example/mcp/cti?toolsets=basic&x='$HOME';`id` \"*"];
const KEYS: readonly Key[] = [{ variable: "OURS" }, { literal: "slp_a1-b2'$HOME\"`id`;" }];

test.each(withCommand)("the command of $name gives it the URL and the header as they are", ({ command }) => {
  for (const url of URLS)
    for (const key of KEYS) {
      const line = command?.({ name: "sallyport-cti", url }, key);
      if (line === undefined) continue;
      const words = wordsOf(line, { OURS: "value-of-ours", HOME: "/home" });
      expect(words).toContain(url);
      const said = words.join("\n");
      if ("literal" in key) expect(said).toContain(`Bearer ${key.literal}`);
      else expect(said).toMatch(/^OURS$|Bearer \$\{OURS\}|Bearer value-of-ours/m);
    }
});

test("any key is one word", () => {
  const [claude] = withCommand;
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), (literal) => {
      fc.pre(!literal.includes("\0"));
      const line = claude?.command?.({ name: "a", url: "https://a.example" }, { literal }) ?? "";
      expect(wordsOf(line, {})).toContain(`Authorization: Bearer ${literal}`);
    }),
    { numRuns: 25 },
  );
});
