import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { clients } from "../../../clients/cli/commands/clients.js";
import { EXIT } from "../../../clients/cli/failures.js";
import { NOUNS } from "../../../clients/cli/nouns.js";
import { readRequest } from "../../../clients/cli/program.js";
import { signIn } from "../../../clients/cli/session.js";
import { CONNECTORS, entryOf, MCP_CLIENTS } from "../../../clients/packages/mcp-clients.js";
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
  readonly notes: readonly string[];
  readonly links: readonly { readonly title: string; readonly server: string; readonly href: string }[];
  readonly alternative?: { readonly title: string; readonly config: string };
}

/** On a machine where no service ever ran. */
const show = (...argv: string[]): Promise<Shown> => showAt("https://mcp.example.com", ...argv);

async function showAt(url: string, ...argv: string[]): Promise<Shown> {
  const empty = mkdtempSync(join(tmpdir(), "sallyport-cli-"));
  try {
    const request = await readRequest(["clients", "show", ...argv, "--url", url], NOUNS);
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
    // VS Code asks for it. Zed and Inspector would send the name of a variable as the key.
    const named = { vscode: "{input:service-api-key}", zed: undefined, inspector: undefined };
    const spelled = name in named ? named[name as keyof typeof named] : "SERVICE_API_KEY";
    if (spelled === undefined) expect(byVariable.config).not.toMatch(/API_KEY|headers/);
    else expect(byVariable.config).toContain(spelled);
    expect(own.config + own.commands.join()).not.toMatch(/SERVICE_API_KEY/);
    // A link never has a key: it stays in histories.
    for (const { href } of [...byVariable.links, ...own.links]) {
      const plain = decodeURIComponent(href);
      const inside = Buffer.from(/config=([^&]*)/.exec(plain)?.[1] ?? "", "base64").toString();
      expect(plain + inside).not.toContain("slp_k_s");
      expect(plain + inside).toMatch(/Bearer \$\{(?:env:SERVICE_API_KEY|input:service-api-key)\}/);
    }
    expect(own.links).toEqual(byVariable.links);
    expect(own.links.length).toBe({ vscode: 2, cursor: 1 }[name] ?? 0);
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

test("links are for each server, with the variable and the URL that were asked for", async () => {
  const { links } = await show("cursor", "--variable", "MINE", "--toolsets", "all");
  expect(links.map(({ server }) => server)).toEqual(SERVERS.map((server) => `sallyport-${server}`));
  const config = new URL(links[0]?.href ?? "").searchParams.get("config") ?? "";
  expect(JSON.parse(Buffer.from(config, "base64").toString())).toEqual({
    url: `https://mcp.example.com/mcp/${SERVERS[0]}`,
    headers: { Authorization: `Bearer $${"{env:MINE}"}` },
  });
});

test("VS Code by a variable, and Zed with a key, are a second text; a key that is given replaces it", async () => {
  const vscode = await show("vscode", "--server", "cti", "--variable", "MINE");
  expect(vscode.alternative?.config).toContain(`Bearer $${"{env:MINE}"}`);
  expect((await show("zed", "--server", "cti")).alternative?.config).toContain("Bearer YOUR_API_KEY");
  expect((await show("zed", "--server", "cti", "--api-key", "k")).alternative).toBeUndefined();
});

test.each(CONNECTORS.map(({ name }) => name))("%s takes the URL, if the internet reaches it", async (name) => {
  const verb = clients.find((one) => one.verb === "show")!;
  const shown = await show(name, "--server", "cti");
  expect(verb.shows?.(shown)).toMatch(/^# .*paste the URL.*\nhttps:\/\/mcp\.example\.com\/mcp\/cti\?toolsets=basic\n/);
  expect(shown.notes.join()).not.toMatch(/cannot call this service/);
  for (const url of ["http://mcp.example.com", "https://127.0.0.1:8080", "https://gateway"])
    expect((await showAt(url, name)).notes.at(-1)).toMatch(
      /cannot call this service: .* BASE_URL to a public HTTPS URL/,
    );
});

test("every client and connector is listed with its files", async () => {
  const listed = clients.find((one) => one.verb === "list")!;
  const { clients: rows } = (await listed.run({} as never, { args: {}, lists: {}, flags: {} })) as {
    clients: readonly { readonly name: string; readonly files: string; readonly places: readonly object[] }[];
  };
  expect(rows.map(({ name }) => name)).toEqual([...MCP_CLIENTS, ...CONNECTORS].map(({ name }) => name));
  expect(rows.find(({ name }) => name === "codex")?.files).toBe(
    "For you: macOS, Linux: ~/.codex/config.toml; Windows: %USERPROFILE%\\.codex\\config.toml; For a project: .codex/config.toml",
  );
  expect(rows.find(({ name }) => name === "zed")?.places).toHaveLength(1);
});

test("a client that takes fewer tools than there are is told so", async () => {
  expect((await show("vscode")).notes.join()).not.toMatch(/at most/);
  expect((await show("vscode", "--toolsets", "all")).notes.at(-1)).toMatch(
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
    /^# For you: [^\n]*~\/\.claude\.json[^\n]*\n# For a project: \.mcp\.json\n\{[\s\S]*"mcpServers"[\s\S]*# from a shell\nclaude mcp add -s user[\s\S]*\n# the cost of the tools [^\n]*\n# cti: \d+ tools[\s\S]*\n# notes\n# If the variable is not set: /,
  );
  const cursor = verb.shows!(await show("cursor", "--server", "cti"));
  expect(cursor).toMatch(
    /\n# links for a browser; none contains a key\n# Add to Cursor \(sallyport-cti\)\ncursor:\/\//,
  );
});
