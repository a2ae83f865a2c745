import fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { codex } from "../../../../clients/packages/clients/command-lines.js";
import {
  type Entry,
  entryOf,
  isVariable,
  KEY_VARIABLE,
  type Key,
  keyVariableIn,
  MCP_CLIENTS,
  type McpClient,
} from "../../../../clients/packages/mcp-clients.js";
import { FACADE_OPTIONS } from "../../../../facade/config.js";

// What each client reads, as it was measured at the client or is in its documentation. Written out here, so that
// a change of a spelling is seen.

const URL_OF_CTI = "https://service.example/mcp/cti?toolsets=basic";
const ENTRY: Entry = { name: "sallyport-cti", url: URL_OF_CTI };
const KEY = "slp_a1-b2_c3.d4~e5+f6/g7=";

const prompt = (id: string): object => ({
  inputs: [{ type: "promptString", id, description: "Service API key", password: true }],
  servers: {
    "sallyport-cti": { type: "http", url: URL_OF_CTI, headers: { Authorization: `Bearer $${`{input:${id}}`}` } },
  },
});
const shell = (name: string): string => `Bearer $${`{${name}}`}`;
const editor = (name: string): string => `Bearer $${`{env:${name}}`}`;
const under = (root: string, server: object): object => ({ [root]: { "sallyport-cti": server } });
const http = (Authorization: string): object => ({ type: "http", url: URL_OF_CTI, headers: { Authorization } });

/** By the name of a client: its file with the name of a variable, and with a key. */
const EXPECTED: Readonly<Record<string, { readonly variable: (name: string) => object; readonly literal: object }>> = {
  "claude-code": {
    variable: (name) => under("mcpServers", http(shell(name))),
    literal: under("mcpServers", http(`Bearer ${KEY}`)),
  },
  codex: {
    variable: (name) => under("mcp_servers", { url: URL_OF_CTI, bearer_token_env_var: name }),
    literal: under("mcp_servers", { url: URL_OF_CTI, http_headers: { Authorization: `Bearer ${KEY}` } }),
  },
  gemini: {
    variable: (name) => under("mcpServers", { httpUrl: URL_OF_CTI, headers: { Authorization: shell(name) } }),
    literal: under("mcpServers", { httpUrl: URL_OF_CTI, headers: { Authorization: `Bearer ${KEY}` } }),
  },
  copilot: {
    variable: (name) => under("mcpServers", { ...http(shell(name)), tools: ["*"] }),
    literal: under("mcpServers", { ...http(`Bearer ${KEY}`), tools: ["*"] }),
  },
  vscode: {
    variable: (name) => prompt(name.toLowerCase().replaceAll("_", "-")),
    literal: prompt("service-api-key"),
  },
  cursor: {
    variable: (name) => under("mcpServers", { url: URL_OF_CTI, headers: { Authorization: editor(name) } }),
    literal: under("mcpServers", { url: URL_OF_CTI, headers: { Authorization: `Bearer ${KEY}` } }),
  },
  windsurf: {
    variable: (name) => under("mcpServers", { serverUrl: URL_OF_CTI, headers: { Authorization: editor(name) } }),
    literal: under("mcpServers", { serverUrl: URL_OF_CTI, headers: { Authorization: `Bearer ${KEY}` } }),
  },
  zed: {
    variable: () => under("context_servers", { url: URL_OF_CTI }),
    literal: under("context_servers", { url: URL_OF_CTI, headers: { Authorization: `Bearer ${KEY}` } }),
  },
  generic: {
    variable: (name) => under("mcpServers", http(shell(name))),
    literal: under("mcpServers", http(`Bearer ${KEY}`)),
  },
  inspector: {
    variable: () => under("mcpServers", { type: "streamable-http", url: URL_OF_CTI }),
    literal: under("mcpServers", { ...http(`Bearer ${KEY}`), type: "streamable-http" }),
  },
  "mcp-remote": {
    variable: (name) => under("mcpServers", bridged(`Authorization:${shell(name)}`)),
    literal: under("mcpServers", {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote expands it.
      ...bridged("Authorization:${AUTH_HEADER}"),
      env: { AUTH_HEADER: `Bearer ${KEY}` },
    }),
  },
};

function bridged(header: string): object {
  return { command: "npx", args: ["-y", "mcp-remote", URL_OF_CTI, "--header", header] };
}

const read = ({ language }: McpClient, text: string): object => (language === "toml" ? parse(text) : JSON.parse(text));

test("the table has every client once, and this test knows each", () => {
  expect(MCP_CLIENTS.map(({ name }) => name).sort()).toEqual(Object.keys(EXPECTED).sort());
});

describe.each(MCP_CLIENTS)("$name", (client) => {
  const expected = EXPECTED[client.name];

  test("reads the name of a variable in its own spelling", () => {
    for (const variable of [KEY_VARIABLE, "_our_Key2"])
      expect(read(client, client.config([ENTRY], { variable }))).toEqual(expected?.variable(variable));
  });

  test("reads a key", () => {
    expect(read(client, client.config([ENTRY], { literal: KEY }))).toEqual(expected?.literal);
  });

  test("reads several servers", () => {
    const entries = ["cti", "core"].map((server) => entryOf("https://service.example", server));
    const [servers] = Object.values(read(client, client.config(entries, { variable: "A" }))).slice(-1);
    expect(Object.keys(servers)).toEqual(["sallyport-cti", "sallyport-core"]);
  });

  test("has a file on each operating system, or says which file it reads", () => {
    const { places, file } = client;
    expect(places.length > 0).toBe(file === undefined);
    for (const { scope, paths } of places) {
      expect(Object.keys(paths).sort()).toEqual(["linux", "macos", "windows"]);
      const beginning = scope === "user" ? [/^~\//, /^~\//, /^%[A-Z]+%\\/] : [/^\.[\w./-]+$/, /^\./, /^\./];
      for (const [at, path] of [paths.macos, paths.linux, paths.windows].entries())
        expect(path).toMatch(beginning[at] as RegExp);
    }
  });

  test("says what there is to know, each thing once", () => {
    const texts = client.notes.map(({ text }) => text);
    expect(texts.length).toBeGreaterThan(0);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

test("the files are those that each client reads", () => {
  const files = Object.fromEntries(MCP_CLIENTS.map(({ name, places }) => [name, places.map(({ paths }) => paths)]));
  const home = (path: string) => ({
    macos: `~/${path}`,
    linux: `~/${path}`,
    windows: `%USERPROFILE%\\${path.replaceAll("/", "\\")}`,
  });
  const project = (path: string) => ({ macos: path, linux: path, windows: path });
  expect(files).toEqual({
    "claude-code": [home(".claude.json"), project(".mcp.json")],
    codex: [home(".codex/config.toml"), project(".codex/config.toml")],
    gemini: [home(".gemini/settings.json"), project(".gemini/settings.json")],
    copilot: [home(".copilot/mcp-config.json"), project(".mcp.json"), project(".github/mcp.json")],
    vscode: [
      {
        macos: "~/Library/Application Support/Code/User/mcp.json",
        linux: "~/.config/Code/User/mcp.json",
        windows: "%APPDATA%\\Code\\User\\mcp.json",
      },
      project(".vscode/mcp.json"),
    ],
    cursor: [home(".cursor/mcp.json"), project(".cursor/mcp.json")],
    windsurf: [home(".codeium/windsurf/mcp_config.json"), home(".codeium/mcp_config.json")],
    zed: [
      {
        macos: "~/.config/zed/settings.json",
        linux: "~/.config/zed/settings.json",
        windows: "%APPDATA%\\Zed\\settings.json",
      },
    ],
    generic: [],
    inspector: [],
    "mcp-remote": [
      {
        macos: "~/Library/Application Support/Claude/claude_desktop_config.json",
        linux: "~/.config/Claude/claude_desktop_config.json",
        windows: "%APPDATA%\\Claude\\claude_desktop_config.json",
      },
    ],
  });
});

test("clients that read the agent plugin say so, and only they", () => {
  const reading = MCP_CLIENTS.filter(({ notes }) => notes.some(({ text }) => text.includes("agent plugin")));
  expect(reading.map(({ name }) => name)).toEqual(["codex", "copilot", "vscode", "cursor"]);
});

test("another text for the same file: a variable for VS Code, a place for the key for Zed", () => {
  const others = MCP_CLIENTS.flatMap(({ name, alternative }) =>
    alternative === undefined ? [] : [[name, JSON.parse(alternative.config([ENTRY], "OURS"))]],
  );
  expect(Object.fromEntries(others)).toEqual({
    vscode: under("servers", http(editor("OURS"))),
    zed: under("context_servers", { url: URL_OF_CTI, headers: { Authorization: "Bearer YOUR_API_KEY" } }),
  });
});

test("the variable is the same by default in the service, the CLI and the console", () => {
  expect(FACADE_OPTIONS.apiKeyVariable.fallback).toBe(KEY_VARIABLE);
  expect(keyVariableIn({})).toBe(KEY_VARIABLE);
  expect(keyVariableIn({ API_KEY_VARIABLE: "OURS" })).toBe("OURS");
});

test("the service and the CLI take the same names of variables", () => {
  const doesParse = (text: string): boolean => {
    try {
      return FACADE_OPTIONS.apiKeyVariable.parse(text) === text;
    } catch {
      return false;
    }
  };
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z_]\w*$/), fc.constantFrom("A\n", "1A", "ä", "A-B", ""));
  fc.assert(fc.property(text, (name) => doesParse(name) === isVariable(name)));
});

// A lone surrogate is in no URL and no header, and TOML cannot write it.
const anyText = fc.string({ unit: "binary", maxLength: 40 });
const anyVariable = fc.stringMatching(/^[A-Za-z_]\w{0,20}$/);
const anyUrl = fc
  .tuple(fc.webUrl({ withQueryParameters: true }), fc.string({ maxLength: 20 }))
  .map(([url, more]) => `${url}${url.includes("?") ? "&" : "?"}more=${encodeURIComponent(more)}'$"`);
const anyKey: fc.Arbitrary<Key> = fc.oneof(
  anyVariable.map((variable) => ({ variable })),
  anyText.map((literal) => ({ literal })),
);

/** Every text in a value, and in what it contains. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test.each(MCP_CLIENTS)("no key, URL or variable breaks what $name reads", (client) => {
  fc.assert(
    fc.property(anyUrl, anyKey, (url, key) => {
      const [servers] = Object.values(read(client, client.config([{ name: "sallyport-cti", url }], key))).slice(-1);
      expect(Object.keys(servers)).toEqual(["sallyport-cti"]);
      const texts = textsIn(servers);
      expect(texts).toContain(url);
      if ("literal" in key && client.name !== "vscode") expect(texts).toContain(`Bearer ${key.literal}`);
    }),
  );
});

test("TOML holds any name, URL and key", () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, (name, url, literal) => {
      expect(parse(codex.config([{ name, url }], { literal }))).toEqual({
        mcp_servers: { [name]: { url, http_headers: { Authorization: `Bearer ${literal}` } } },
      });
    }),
    {
      examples: [
        ["\u007f\u0000\t\\\"'", "a\nb = 1\n[c]", '"""\u2028\u0085'],
        ["a.b", "", "#"],
        ["", "[x]", "\ud83d\ude00"],
      ],
    },
  );
});
