import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { personAt, settleIn } from "../support/oauth/person.js";
import { type Program, startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

// Programs that people use connect without a key, as they come from their makers.

const FOREIGN = join(import.meta.dirname, "../foreign");
const CLAUDE = join(FOREIGN, "claude-code/node_modules/.bin/claude");
const MCP_REMOTE = join(FOREIGN, "mcp-remote/node_modules/.bin/mcp-remote");
const SCRIPT = "/usr/bin/script";

const absent = (...files: string[]): string | undefined => {
  const missing = files.filter((file) => !existsSync(file));
  return missing.length === 0
    ? undefined
    : `${missing.map((file) => file.split("/").at(-1)).join(" and ")} not installed`;
};
const noRemote = absent(MCP_REMOTE);
// It asks for a terminal, which `script` gives it.
const noClaude = absent(CLAUDE, SCRIPT);

let program: Program;
let home: string;
beforeAll(async () => {
  // The documents of these clients are on the internet, which tests do not call: they register.
  program = await startProgram({ env: { CLIENT_DOCUMENTS: "off" } });
  await settleIn(program, program.bootstrap.analyst);
  home = mkdtempSync(join(tmpdir(), "clients-"));
});
afterAll(async () => {
  await program?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** What a program has said so far, and what it is waited for to say. */
function listenTo({ stdout, stderr }: ChildProcess) {
  let said = "";
  for (const stream of [stdout, stderr]) stream?.on("data", (piece: Buffer) => (said += piece));
  return {
    said: () => said,
    async until(pattern: RegExp): Promise<string> {
      await expect.poll(() => pattern.test(said), { timeout: 30_000, message: said }).toBe(true);
      return (pattern.exec(said) as RegExpExecArray)[0];
    },
  };
}

// Ends at white space, and at what a terminal is told by.
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is told by control characters
const AUTHORIZE = /http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?[^\s\x07\x1b]+/;

/** The person opens the address that a program shows, signs in and allows. */
async function signInAt(shown: string): Promise<URL> {
  const url = new URL(shown);
  return personAt(program.bootstrap.analyst).follow(url, url.searchParams.get("redirect_uri") as string);
}

describe.skipIf(noRemote !== undefined)(titled("mcp-remote", noRemote), () => {
  test("connects a desktop assistant that takes no header, and calls a tool", async () => {
    const child = spawn(process.execPath, [MCP_REMOTE, `${program.baseUrl}/mcp/cti`, "--allow-http"], {
      env: { PATH: "/usr/bin:/bin", HOME: home, MCP_REMOTE_CONFIG_DIR: join(home, "mcp-remote") },
    });
    const heard = listenTo(child);
    try {
      const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      const clientInfo = { name: "assistant", version: "1" };
      say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
      const back = await signInAt(await heard.until(AUTHORIZE));
      await heard.until(/callback server running/);
      expect((await fetch(back)).status).toBe(200);
      await heard.until(/"protocolVersion":"/);
      say({ method: "notifications/initialized" });
      say({ id: 2, method: "tools/call", params: { name: "whoami", arguments: {} } });
      await heard.until(/analyst@sallyport\.example.*"id":2|"id":2.*analyst@sallyport\.example/);
    } finally {
      child.kill();
    }
  });
});

describe.skipIf(noClaude !== undefined)(titled("Claude Code", noClaude), () => {
  test("signs in with its own command, and is connected", async () => {
    const env = { PATH: process.env.PATH ?? "", HOME: home, CLAUDE_CONFIG_DIR: join(home, "claude"), TERM: "xterm" };
    const claude = (...args: string[]) => run(CLAUDE, args, { env, cwd: home });
    await claude("mcp", "add", "--transport", "http", "-s", "user", "sallyport", `${program.baseUrl}/mcp/grc`);
    const login = `stty cols 2000; ${CLAUDE} mcp login sallyport --no-browser`;
    const child = spawn(SCRIPT, ["-qec", login, "/dev/null"], { env, cwd: home });
    const heard = listenTo(child);
    try {
      const back = await signInAt(await heard.until(AUTHORIZE));
      await heard.until(/paste the redirect URL/);
      child.stdin.write(`${back.href}\r`);
      await heard.until(/Authenticat(?:ed|ion successful)|successfully|Connected/i);
    } finally {
      child.kill();
    }
    expect((await claude("mcp", "list")).stdout).toMatch(/sallyport: .* Connected/);
  });
});
