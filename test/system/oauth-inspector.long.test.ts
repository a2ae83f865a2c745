import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { noChromium, startChromium } from "../support/chromium.js";
import { OWN_PASSWORD, settleIn } from "../support/oauth/person.js";
import { freePorts, type Program, startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

// MCP Inspector, with which people try a server, connects without a key: a person
// turns its switch, signs in at our pages, comes back and calls a tool.

const FOREIGN = join(import.meta.dirname, "../foreign");
const NODE = join(FOREIGN, "nodes/node_modules/node-22/bin/node");
const INSPECTOR = join(
  FOREIGN,
  "inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);
const missing = !existsSync(INSPECTOR)
  ? "MCP Inspector is not installed"
  : existsSync(NODE)
    ? noChromium
    : "Node 22 is not installed";

describe.skipIf(missing)(titled("MCP Inspector", missing), () => {
  let program: Program;
  let inspector: ChildProcess;
  let chromium: Browser;
  let page: Page;
  let home: string;

  beforeAll(async () => {
    if (missing !== undefined) return;
    // Its document would be on the internet, which tests do not call: it registers.
    program = await startProgram({ env: { CLIENT_DOCUMENTS: "off" } });
    await settleIn(program, program.bootstrap.analyst);
    home = mkdtempSync(join(tmpdir(), "inspector-"));
    const [port, sandbox] = await freePorts(2);
    const args = [INSPECTOR, "--web", "--transport", "http", "--server-url", `${program.baseUrl}/mcp/cti`];
    inspector = spawn(NODE, args, {
      env: {
        ...{ PATH: process.env.PATH ?? "", HOME: home, MCP_AUTO_OPEN_ENABLED: "false" },
        ...{ CLIENT_PORT: String(port), MCP_SANDBOX_PORT: String(sandbox), MCP_INSPECTOR_SECRET_STORE: "memory" },
      },
    });
    let said = "";
    for (const stream of [inspector.stdout, inspector.stderr]) stream?.on("data", (piece: Buffer) => (said += piece));
    const url = /http:\/\/127\.0\.0\.1:\d+\/?\?MCP_INSPECTOR_API_TOKEN=\w+/;
    await vi.waitFor(() => expect(said).toMatch(url), { timeout: 30_000, interval: 100 });
    chromium = await startChromium();
    page = await chromium.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto((url.exec(said) as RegExpExecArray)[0]);
  });

  afterAll(async () => {
    await chromium?.close();
    inspector?.kill();
    await program?.stop();
    if (home !== undefined) rmSync(home, { recursive: true, force: true });
  });

  test("discovers, registers, has the person sign in and allow, and calls a tool", async () => {
    await page.getByRole("switch", { name: /Connect or disconnect/ }).click({ force: true });
    await page.waitForURL(/\/oauth\/interaction\//);
    await page.getByLabel("E-mail address").fill(program.bootstrap.analyst.email);
    await page.getByLabel("Password").fill(OWN_PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("MCP Inspector").first().waitFor();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    await page.getByText("Tools", { exact: true }).first().click();
    await page.getByText("whoami", { exact: true }).first().click();
    await page
      .getByRole("button", { name: /Execute|Run|Call/ })
      .first()
      .click();
    await page.getByText(program.bootstrap.analyst.email).first().waitFor();
  });
});
