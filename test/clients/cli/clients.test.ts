import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { clients } from "../../../clients/cli/commands/clients.js";
import { EXIT } from "../../../clients/cli/failures.js";
import { NOUNS } from "../../../clients/cli/nouns.js";
import { readRequest } from "../../../clients/cli/program.js";
import { signIn } from "../../../clients/cli/session.js";
import { entryOf, MCP_CLIENTS } from "../../../clients/packages/mcp-clients.js";
import { SERVERS } from "../../../services/shared/platforms.js";

interface Shown {
  readonly config: string;
  readonly commands: readonly string[];
  readonly costs: readonly {
    readonly server: string;
    readonly tools: number;
    readonly bytes: number;
    readonly said: string;
  }[];
  readonly note?: string;
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

const TENANT = "0b6f6c9e-8a51-4f0e-9c0d-1f1d9a3c2e77";

test.each(MCP_CLIENTS.map(({ name, sends }) => [name, sends] as const))(
  "%s, which sends %s, gets the list that suits it",
  async (name, sends) => {
    const { config, commands, costs } = await show(name);
    const urls = [config, ...commands].join().match(/https:\/\/mcp\.example\.com\/mcp\/\w+[^"' ,]*/g) ?? [];
    expect(urls.length).toBeGreaterThanOrEqual(SERVERS.length);
    for (const url of urls) expect(url.endsWith("?toolsets=basic")).toBe(sends === "all");
    for (const { tools, bytes } of costs) {
      expect(tools > 18).toBe(sends !== "all");
      expect(bytes < 24_000).toBe(sends === "all");
    }
    // A shell reads a question mark; the URL is one word of it.
    for (const command of commands) if (sends === "all") expect(command).toMatch(/'https:[^' ]+\?toolsets=basic'/);
  },
);

test("URLs are narrowed as asked, and the cost is that of the narrowed list", async () => {
  const of = async (...flags: string[]) => {
    const { config, costs } = await show("codex", "--server", "grc", ...flags);
    return { url: /url = "([^"]+)"/.exec(config)?.[1]?.split("/mcp/")[1], cost: costs[0]! };
  };
  const basic = await of();
  const whole = await of("--toolsets", "all");
  expect([basic.url, whole.url]).toEqual(["grc?toolsets=basic", "grc"]);
  const asked = await of("--toolsets", "basic,risk", "--exclude", "whoami", "--readonly", "--tenant", TENANT);
  expect(asked.url).toBe(`grc?toolsets=basic,risk&exclude=whoami&readonly=1&tenant=${TENANT}`);
  const pinned = await of("--toolsets", "all", "--tenant", TENANT);
  expect(pinned.cost.tools).toBe(whole.cost.tools);
  const bytes = [basic, pinned, whole].map(({ cost }) => cost.bytes);
  expect(bytes).toEqual(bytes.toSorted((one, other) => one - other));
  expect(whole.cost.said).toMatch(/^grc: \d+ tools, \d+ KB, about [\d,]+ tokens$/);
  expect((await show("claude-code", "--server", "grc")).costs[0]?.said).toMatch(
    / if all are sent; \d+ KB, about [\d,]+ tokens, if the client/,
  );
});

test("a client that takes fewer tools than there are is told so", async () => {
  expect((await show("vscode")).note).not.toMatch(/at most/);
  expect((await show("vscode", "--toolsets", "all")).note).toMatch(
    /accepts at most 128 tools, and these URLs have \d+: use/,
  );
});

test.each([
  ["a toolset that is nowhere", ["--toolsets", "nope"]],
  ["a toolset of another server", ["--toolsets", "risk"]],
  ["a tool as a toolset", ["--server", "cti", "--toolsets", "whoami"]],
  ["an empty name", ["--toolsets", ""]],
  ["what is no name to exclude", ["--exclude", "case,nope"]],
  ["a tenant where calls are for none", ["--tenant", TENANT]],
  ["what is no tenant", ["--server", "grc", "--tenant", "x"]],
  ["what is no name", ["--variable", "a b"]],
  ["what is no key", ["--api-key", 'a"b']],
  ["both", ["--variable", "A", "--api-key", "b"]],
])("refused is %s", async (_what, flags) => {
  await expect(show("codex", ...flags)).rejects.toMatchObject({ exitCode: EXIT.usage });
});

test("people see the file, what goes into it, and the command", async () => {
  const verb = clients.find((one) => one.verb === "show")!;
  const said = verb.shows!(await show("claude-code", "--server", "cti"));
  expect(said).toMatch(
    /^# \.mcp\.json[\s\S]*"mcpServers"[\s\S]*# from a shell\nclaude mcp add -s user[\s\S]*\n# what the tools cost [^\n]*\n# cti: \d+ tools/,
  );
});
