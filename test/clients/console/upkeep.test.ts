import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noChromium, startChromium } from "../../support/chromium.js";
import { atConsole, type PersonAtConsole, withOwnPassword } from "../../support/console.js";
import { freePorts, type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// What the console costs to load, how it is used without a mouse, and what it does while the service is away.

/** Bytes, compressed by Brotli, of all that a page asks for. */
const MOST_FOR_SIGN_IN = 200_000;
const MOST_FOR_FIRST_PAGE = 285_000;

describe.skipIf(noChromium !== undefined)(titled("the console", noChromium), () => {
  const dataDir = mkdtempSync(join(tmpdir(), "console-"));
  let program: Program;
  let chromium: Browser;
  let analyst: PersonAtConsole;
  let start: () => Promise<Program>;

  beforeAll(async () => {
    const [port] = await freePorts(1);
    start = () => startProgram({ dataDir, keepData: true, env: { PORT: String(port) } });
    program = await start();
    chromium = await startChromium();
    analyst = await withOwnPassword(program, program.bootstrap.analyst);
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("loads no more than it may", async () => {
    const at = await atConsole(chromium, program);
    const asked = new Set<string>();
    at.page.on("request", (request) => request.method() === "GET" && asked.add(request.url()));
    const bytes = async (): Promise<number> => {
      const sizes = [...asked].map(async (url) => {
        // Undone by fetch: what came over the wire is what the file is compressed to.
        const answer = await fetch(url, { headers: { "accept-encoding": "br" } });
        const length = Number(answer.headers.get("content-length"));
        return length || (await answer.arrayBuffer()).byteLength;
      });
      return (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0);
    };
    await at.open("");
    await at.page.getByLabel("Password").waitFor();
    await at.page.waitForLoadState("networkidle");
    const signIn = await bytes();
    await at.signIn(analyst);
    await at.page.getByText(/with every turn/).waitFor();
    await at.page.waitForLoadState("networkidle");
    const first = await bytes();
    await at.close();
    expect(signIn).toBeGreaterThan(50_000);
    expect(signIn).toBeLessThanOrEqual(MOST_FOR_SIGN_IN);
    expect(first).toBeLessThanOrEqual(MOST_FOR_FIRST_PAGE);
  });

  test("everything is reached by Tab alone: from the sign-in to a new key", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    const focused = (): Promise<string> =>
      page.evaluate(
        "(document.activeElement.innerText || document.activeElement.name || '').trim()",
      ) as Promise<string>;
    /** @throws Error where it is not reached. */
    async function tabTo(name: string): Promise<void> {
      for (let n = 0; n < 60; n++) {
        if ((await focused()) === name) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab does not reach ${name}`);
    }
    await at.open("");
    await page.getByLabel("Password").waitFor();
    await tabTo("email");
    await page.keyboard.type(analyst.email);
    await tabTo("password");
    await page.keyboard.type(analyst.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
    await tabTo("Skip to content");
    await tabTo("API Keys");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
    await tabTo("New key");
    await page.keyboard.press("Enter");
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Enter");
    await page.getByText("Copy your key now").waitFor();
    await tabTo("I have saved it");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "By keyboard" }).waitFor();
    expect(await focused()).toBe("New key");
    await at.close();
  });

  test("the service restarts under an open page: it says so, keeps what is written, and goes on", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    await at.open("profile/keys");
    await at.signIn(analyst);
    await page.getByRole("button", { name: "New key" }).click();
    await page.keyboard.type("Written before the restart");
    await program.stop();
    await page.keyboard.press("Enter");
    await page.getByText(/whether it was done is not known/).waitFor();
    await page.getByText("The service does not answer", { exact: true }).waitFor();
    program = await start();
    await page.getByText("The service does not answer", { exact: true }).waitFor({ state: "detached" });
    expect(await page.getByLabel("Name").inputValue()).toBe("Written before the restart");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("Copy your key now").waitFor();
    expect(await at.look("after a restart")).toEqual([]);
    await at.close();
  });
});
