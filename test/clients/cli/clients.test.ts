import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { clients } from "../../../clients/cli/commands/clients.js";
import { EXIT } from "../../../clients/cli/failures.js";
import { entryOf, MCP_CLIENTS } from "../../../clients/cli/mcp-clients.js";
import { NOUNS } from "../../../clients/cli/nouns.js";
import { readRequest } from "../../../clients/cli/program.js";
import { signIn } from "../../../clients/cli/session.js";
import { SERVERS } from "../../../services/shared/platforms.js";

interface Shown {
  readonly config: string;
  readonly commands: readonly string[];
}

/** On a machine where no service ever ran. */
async function show(...argv: string[]): Promise<Shown> {
  const empty = mkdtempSync(join(tmpdir(), "sallyport-cli-"));
  try {
    const request = await readRequest(["clients", "show", ...argv, "--url", "https://mcp.example.com"], NOUNS);
    const { verb, input, signIn: given } = request!;
    return (await verb.run(signIn(given, { DATA_DIR: empty }), input)) as Shown;
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}
afterEach(() => vi.unstubAllEnvs());

const names = MCP_CLIENTS.map(({ name }) => name);

test.each(names.flatMap((name) => SERVERS.map((server) => [name, server] as const)))(
  "%s is told of %s, by a variable and without",
  async (name, server) => {
    const { url } = entryOf("https://mcp.example.com", server);
    const byVariable = await show(name, "--server", server);
    const own = await show(name, "--server", server, "--api-key", "slp_k_s");
    for (const { config } of [byVariable, own]) {
      expect(config).toContain(url);
      if (!config.startsWith("[")) expect(Object.values(JSON.parse(config)).length).toBeGreaterThan(0);
    }
    expect(byVariable.config).toMatch(/SERVICE_API_KEY/);
    expect(own.config + own.commands.join()).not.toMatch(/SERVICE_API_KEY/);
    // VS Code asks for it: it is written nowhere.
    expect(own.config.includes("Bearer slp_k_s")).toBe(name !== "vscode");
  },
);

test("all servers where none is named, and the variable that is configured or given", async () => {
  const { config, commands } = await show("codex");
  expect(config.match(/^\[mcp_servers\.sallyport-\w+\]$/gm)).toHaveLength(SERVERS.length);
  expect(commands).toHaveLength(SERVERS.length);
  vi.stubEnv("API_KEY_VARIABLE", "OUR_KEY");
  expect((await show("gemini")).config).toContain(`Bearer $${"{OUR_KEY}"}`);
  expect((await show("cursor", "--variable", "MINE")).config).toContain(`Bearer $${"{env:MINE}"}`);
});

test.each([
  ["what is no name", ["--variable", "a b"]],
  ["what is no key", ["--api-key", 'a"b']],
  ["both", ["--variable", "A", "--api-key", "b"]],
])("refused is %s", async (_what, flags) => {
  await expect(show("codex", ...flags)).rejects.toMatchObject({ exitCode: EXIT.usage });
});

test("people see the file, what goes into it, and the command", async () => {
  const verb = clients.find((one) => one.verb === "show")!;
  const said = verb.shows!(await show("claude-code", "--server", "cti"));
  expect(said).toMatch(/^# \.mcp\.json[\s\S]*"mcpServers"[\s\S]*# from a shell\nclaude mcp add -s user/);
});
