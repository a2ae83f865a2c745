import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entryOf, MCP_CLIENTS } from "../../../clients/packages/mcp-clients.js";
import { SERVERS } from "../../../services/shared/platforms.js";
import {
  AGENT_PLUGINS,
  CLAUDE,
  CODEX,
  foreignFile,
  isInstalled,
  MCPB,
  PYTHON,
  run,
  SKILLS_REF,
} from "../../support/foreign.js";
import { notLong } from "../../support/long.js";
import { FORMATS, packagesOf, type Unpacked } from "../../support/packages.js";
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// Packages of the running service, with the real tools of the analyst, before the validators of
// those who made the formats. Each validator is also shown a package that it must refuse.

/** Every package that there is: with a key written in, where its format allows one, and without. */
const KINDS = SERVERS.flatMap((server) =>
  (Object.keys(FORMATS) as (keyof typeof FORMATS)[]).flatMap((format) =>
    (format === "agent-plugin" ? [false] : [false, true]).map((oneClick) => ({ server, format, oneClick })),
  ),
);
const MINUTES = 180_000;

describe.skipIf(notLong !== undefined)(titled("packages of the running service", notLong), () => {
  const below = mkdtempSync(join(tmpdir(), "validated-"));
  const built = new Map<string, Unpacked>();
  let program: Program;

  beforeAll(async () => {
    program = await startProgram({ readyWithin: MINUTES });
    const packages = packagesOf(program, program.bootstrap.analyst.api_key, below);
    for (const { server, format, oneClick } of KINDS)
      built.set(`${server} ${format} ${oneClick}`, await packages.build(server, format, oneClick));
  }, MINUTES);
  afterAll(async () => {
    await program?.stop();
    rmSync(below, { recursive: true, force: true });
  });

  const all = (format: keyof typeof FORMATS): Unpacked[] =>
    KINDS.filter((kind) => kind.format === format).map(
      (kind) => built.get(`${kind.server} ${format} ${kind.oneClick}`) as Unpacked,
    );
  /** A copy of a package in which one file is another. */
  const broken = (one: Unpacked, path: string, change: (text: string) => string): string => {
    const folder = mkdtempSync(join(below, "broken-"));
    const copy = join(folder, one.folder.split("/").at(-1) as string);
    cpSync(one.folder, copy, { recursive: true });
    writeFileSync(join(copy, path), change(readFileSync(join(copy, path), "utf8")));
    return copy;
  };
  const without = (program: string, name: string): string | undefined =>
    isInstalled(program) ? undefined : `${name} is not installed: test/foreign/install.sh`;
  const ofTheirOwn = (more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    HOME: mkdtempSync(join(below, "home-")),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    ...more,
  });

  test("a strict zip reader opens every one, and only those with one click have a key", () => {
    expect(built.size).toBe(20);
    for (const [name, { files }] of built) {
      const text = [...files].map(([path, body]) => `${path}\n${body.toString("latin1")}`).join("\n");
      expect(text.match(/slp_\w{10}/g)?.length ?? 0, name).toBe(name.endsWith("true") ? 1 : 0);
    }
  });

  test("skills are short: references one level deep, bodies below 500 lines and 5,000 tokens", () => {
    for (const [name, { files }] of built) {
      const [[path = "", body] = []] = [...files].filter(([one]) => one.endsWith("/SKILL.md"));
      const text = body?.toString() ?? "";
      expect(text.split("\n").length, name).toBeLessThan(500);
      // A token is 3 bytes or more of such text.
      expect(text.length / 3, name).toBeLessThan(5_000);
      for (const [, link] of text.matchAll(/\]\(([^)]+)\)/g)) {
        expect(link, name).toMatch(/^references\/[^/]+$/);
        expect(files.has(path.replace("SKILL.md", link as string)), `${name}: ${link}`).toBe(true);
      }
    }
  });

  const noClaude = without(CLAUDE, "Claude Code");
  describe.skipIf(noClaude)(titled("claude plugin validate", noClaude), () => {
    const validate = async (args: readonly string[]) =>
      run(CLAUDE, ["plugin", "validate", ...args], { env: ofTheirOwn() });

    test("passes plugin.json and marketplace.json, strictly; the directory would take the plugin", {
      timeout: MINUTES,
    }, async () => {
      const plugins = all("claude-code");
      expect(plugins).toHaveLength(8);
      for (const { folder } of plugins) {
        for (const args of [
          ["--strict", join(folder, ".claude-plugin/plugin.json")],
          ["--strict", join(folder, ".claude-plugin/marketplace.json")],
          ["--profile", "directory", join(folder, ".claude-plugin/plugin.json")],
        ]) {
          const { code, stdout, stderr } = await validate(args);
          expect([code, stderr], `${args.join(" ")}\n${stdout}`).toEqual([0, ""]);
          expect(stdout).toContain("Validation passed");
        }
      }
    });

    test("refuses a plugin with a field that is not one", async () => {
      const folder = broken(all("claude-code")[0] as Unpacked, ".claude-plugin/plugin.json", (text) =>
        text.replace('"sensitive"', '"secret"'),
      );
      expect((await validate(["--strict", join(folder, ".claude-plugin/plugin.json")])).code).toBe(1);
    });
  });

  const noMcpb = without(MCPB, "mcpb");
  describe.skipIf(noMcpb)(titled("mcpb validate", noMcpb), () => {
    test("passes every manifest", { timeout: MINUTES }, async () => {
      const bundles = all("mcpb");
      expect(bundles).toHaveLength(8);
      for (const { folder } of bundles) {
        const { code, stdout, stderr } = await run(MCPB, ["validate", join(folder, "manifest.json")], {
          env: ofTheirOwn(),
        });
        expect([code, stderr], stdout).toEqual([0, ""]);
        expect(stdout).toMatch(/schema validation passes!/);
      }
    });

    test("refuses a manifest with a field that is not one", async () => {
      const folder = broken(all("mcpb")[0] as Unpacked, "manifest.json", (text) =>
        text.replace('"sensitive"', '"secret"'),
      );
      const { code } = await run(MCPB, ["validate", join(folder, "manifest.json")], { env: ofTheirOwn() });
      expect(code).toBe(1);
    });
  });

  const noSkillsRef = without(SKILLS_REF, "skills-ref");
  describe.skipIf(noSkillsRef)(titled("skills-ref validate", noSkillsRef), () => {
    const validate = (folder: string) => run(SKILLS_REF, ["validate", folder], { env: ofTheirOwn() });

    test("passes the skill of every package", { timeout: MINUTES }, async () => {
      for (const [name, { folder }] of built) {
        const server = name.split(" ", 1)[0];
        const { code, stdout, stderr } = await validate(join(folder, `skills/sallyport-${server}`));
        expect([name, code, stderr], stdout).toEqual([name, 0, ""]);
      }
    });

    test("refuses a skill whose name is not its folder's", async () => {
      const path = "skills/sallyport-cti/SKILL.md";
      const folder = broken(built.get("cti mcpb false") as Unpacked, path, (text) =>
        text.replace('"sallyport-cti"', '"other"'),
      );
      expect((await validate(join(folder, "skills/sallyport-cti"))).code).toBe(1);
    });
  });

  const noReader = without(AGENT_PLUGINS, "agent-plugins for Python");
  describe.skipIf(noReader)(titled("a reader of the Agent Plugins Specification 1.0.0", noReader), () => {
    const read = async (folder: string) => {
      const { stdout, stderr } = await run(PYTHON, [foreignFile("python/check_agent_plugin.py"), folder]);
      if (stderr !== "") throw new Error(stderr);
      return JSON.parse(stdout);
    };

    test("finds nothing wrong, and reads the URL without a header", { timeout: MINUTES }, async () => {
      for (const server of SERVERS) {
        const { folder, version } = built.get(`${server} agent-plugin false`) as Unpacked;
        const name = `sallyport-${server}`;
        expect(await read(folder)).toEqual({
          issues: [],
          name,
          version,
          skills: [name],
          servers: { [name]: `${program.baseUrl}/mcp/${server}` },
          headers: [{}],
        });
      }
    });

    test.each([
      ["mcp.json", '"streamable-http"', '"http"'],
      ["mcp.json", '"url"', '"timeout": 1, "url"'],
      ["mcp.json", "1.0.0/mcp", "0.9/mcp"],
      ["plugin.json", '"keywords"', '"userConfig": {}, "keywords"'],
      ["plugin.json", '"sallyport-cti"', '"Sallyport--CTI"'],
    ])("reports %s with %s as %s", async (path, from, to) => {
      const folder = broken(built.get("cti agent-plugin false") as Unpacked, path, (text) => text.replace(from, to));
      expect((await read(folder)).issues).not.toEqual([]);
    });
  });

  const noCodex = without(CODEX, "Codex");
  describe.skipIf(noCodex)(titled("codex mcp list", noCodex), () => {
    const codex = MCP_CLIENTS.find(({ name }) => name === "codex");
    const listed = async (config: string) => {
      const home = mkdtempSync(join(below, "codex-"));
      writeFileSync(join(home, "config.toml"), config);
      const { stdout } = await run(CODEX, ["mcp", "list", "--json"], { env: ofTheirOwn({ CODEX_HOME: home }) });
      return JSON.parse(stdout) as { name: string; enabled: boolean; transport: Record<string, unknown> }[];
    };
    const entries = () =>
      SERVERS.map((server) => entryOf(program.baseUrl, server, server === "cti" ? "?toolsets=basic" : ""));

    test.each([
      [
        "by a variable",
        { variable: "SERVICE_API_KEY" },
        { bearer_token_env_var: "SERVICE_API_KEY", http_headers: null },
      ],
      [
        "as it is",
        { literal: "slp_1" },
        { bearer_token_env_var: null, http_headers: { Authorization: "Bearer slp_1" } },
      ],
    ])("reads the fragment with the key %s", async (_how, key, credential) => {
      const servers = await listed(codex?.config(entries(), key) ?? "");
      expect(servers.map(({ name, enabled, transport }) => ({ name, enabled, transport }))).toEqual(
        entries()
          .map(({ name, url }) => ({
            name,
            enabled: true,
            transport: expect.objectContaining({ type: "streamable_http", url, ...credential }),
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    });

    test("installs each agent plugin from its folder; the entry of its README replaces the plugin's", {
      timeout: MINUTES,
    }, async () => {
      const env = ofTheirOwn({ CODEX_HOME: mkdtempSync(join(below, "codex-")) });
      for (const server of SERVERS) {
        const { folder, files } = built.get(`${server} agent-plugin false`) as Unpacked;
        const readme = files.get(`sallyport-${server}/README.md`)?.toString() ?? "";
        const commands = [...readme.matchAll(/^ {4}codex (.*)$/gm)].map(([, command]) =>
          (command as string).split(" "),
        );
        expect(commands).toHaveLength(3);
        for (const args of commands) {
          const { code, stderr } = await run(CODEX, args, { env, cwd: join(folder, "..") });
          expect([args, code], stderr).toEqual([args, 0]);
        }
      }
      const { stdout } = await run(CODEX, ["mcp", "list", "--json"], { env });
      const servers = JSON.parse(stdout) as {
        name: string;
        transport: { url: string; bearer_token_env_var: string };
      }[];
      expect(
        servers.map(({ name, transport }) => [name, transport.url, transport.bearer_token_env_var]).sort(),
      ).toEqual(
        SERVERS.map((server) => [`sallyport-${server}`, `${program.baseUrl}/mcp/${server}`, "SERVICE_API_KEY"]).sort(),
      );
    });
  });
});
