import { Buffer } from "node:buffer";
import type { Browser, Locator, Page } from "playwright-core";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { CONNECTORS, MCP_CLIENTS, type McpClient } from "../../../clients/packages/mcp-clients.js";
import { noChromium, startChromium } from "../../support/chromium.js";
import { type AtConsole, atConsole, type PersonAtConsole, withOwnPassword } from "../../support/console.js";
import { notLong } from "../../support/long.js";
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// How clients are configured at the console, for each client, on a deployment that names a variable of its own.

const VARIABLE = "OUR_KEY";
/** A fragment alone, one with links and a second text, and one that says what a second text is for. */
const LOOKED_AT = new Set(["claude-code", "vscode", "zed"]);
const AGENTS = {
  windows: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36",
  macos: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36",
  linux: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36",
} as const;
const NAMES = { windows: "Windows", macos: "macOS", linux: "Linux" } as const;

// A test looks at every client in turn.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const skipped = noChromium ?? notLong;

describe.skipIf(skipped !== undefined)(titled("clients at the console", skipped), () => {
  let program: Program;
  let chromium: Browser;
  let analyst: PersonAtConsole;

  beforeAll(async () => {
    program = await startProgram({ env: { API_KEY_VARIABLE: VARIABLE } });
    chromium = await startChromium();
    analyst = await withOwnPassword(program, program.bootstrap.analyst);
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
  });

  async function visit(work: (at: AtConsole) => Promise<void>): Promise<void> {
    const at = await atConsole(chromium, program);
    try {
      await at.open("profile/endpoint");
      await at.signIn(analyst);
      await panel(at.page).waitFor();
      await work(at);
      await at.page.evaluate("scrollTo(0, 0)");
      expect(await at.look("end of work")).toEqual([]);
    } finally {
      await at.close();
    }
  }

  /** From the top: what is scrolled below the bar of the page cannot be pressed there, and that is no finding. */
  async function lookFromTop({ page, lookEverywhere }: AtConsole, name: string): Promise<readonly string[]> {
    await page.evaluate("scrollTo(0, 0)");
    return lookEverywhere(name);
  }

  const panel = (page: Page): Locator => page.getByRole("region", { name: "Add to a client" });
  const clipboard = (page: Page): Promise<string> => page.evaluate("navigator.clipboard.readText()") as Promise<string>;

  /** Chooses a client by keyboard, and waits for the cost of its list. */
  async function choose(page: Page, title: string): Promise<void> {
    const button = panel(page).getByRole("button", { name: /Client$/ });
    const at = [...MCP_CLIENTS, ...CONNECTORS].findIndex((one) => one.title === title);
    const list = page.getByRole("listbox");
    const isChosen = async (): Promise<boolean> => (await button.textContent()) === title && !(await list.isVisible());
    // A notice that appears above moves the page, and that closes an open list: once more, then.
    await vi.waitFor(
      async () => {
        if (await isChosen()) return;
        if (await list.isVisible()) await page.keyboard.press("Escape");
        else {
          await button.press("Enter", { timeout: 5_000 });
          await list.press("Home", { timeout: 3_000 });
          for (let n = 0; n < at; n++) await page.keyboard.press("ArrowDown");
          await page.keyboard.press("Enter");
        }
        expect(await isChosen()).toBe(true);
      },
      { timeout: 30_000, interval: 200 },
    );
    await panel(page)
      .getByRole("status")
      .getByText(/\d+ tools?\b/)
      .waitFor();
  }

  /** What a client reads as its file, with the URL of its server. */
  function read({ language }: McpClient, text: string): { readonly whole: string; readonly url: string } {
    const whole = JSON.stringify(language === "toml" ? parse(text) : JSON.parse(text));
    return { whole, url: /https?:\/\/[^"]+/.exec(whole)?.[0] ?? "" };
  }

  describe("one after the other", () => {
    test("every client: its files, notes and cost, and a fragment that it reads", () =>
      visit(async (at) => {
        const { page } = at;
        for (const client of MCP_CLIENTS) {
          await choose(page, client.title);
          const isNarrowed = client.sends === "all";
          const fragment = panel(page).getByRole("region", { name: `${client.title} fragment`, exact: true });
          await expect.poll(() => fragment.textContent()).toMatch(isNarrowed ? /cti\?toolsets=basic"/ : /mcp\/cti"/);
          for (const { paths } of client.places)
            expect(await panel(page).getByText(paths.linux, { exact: true }).isVisible(), client.name).toBe(true);
          for (const { text } of client.notes) expect(await panel(page).getByText(text).isVisible(), text).toBe(true);
          const cost = (await panel(page).locator(".cost").textContent()) ?? "";
          expect(cost).toMatch(client.sends === "none" ? /^\d+ tools\.$/ : /^\d+ tools; .* about [\d,]+ tokens/);
          expect(Number(/^\d+/.exec(cost)?.[0]) > 20).toBe(!isNarrowed);
          await panel(page)
            .getByRole("button", { name: `Copy ${client.title} fragment`, exact: true })
            .click();
          const { whole, url } = read(client, await clipboard(page));
          expect(url).toBe(`${program.baseUrl}/mcp/cti${isNarrowed ? "?toolsets=basic" : ""}`);
          // The variable of the deployment, unless the client would send its name.
          const spelled = { vscode: "our-key", zed: undefined, inspector: undefined };
          const reference = client.name in spelled ? spelled[client.name as keyof typeof spelled] : VARIABLE;
          if (reference === undefined) expect(whole).not.toMatch(/OUR_KEY|Authorization/);
          else expect(whole).toContain(reference);
          expect(whole).not.toContain("SERVICE_API_KEY");
          // The others are of the same parts: with a place, links, a second text.
          if (LOOKED_AT.has(client.name))
            expect(await lookFromTop(at, `fragment-${client.name}`), client.name).toEqual([]);
        }
      }));

    test("every connector: its URL, its notes, and that this service is not on the internet", () =>
      visit(async (at) => {
        const { page } = at;
        for (const connector of CONNECTORS) {
          await choose(page, connector.title);
          await panel(page).getByText("This client cannot call your service").waitFor();
          await panel(page)
            .getByText(/127\.0\.0\.1 is not on the internet/)
            .waitFor();
          await panel(page).getByText(connector.steps).waitFor();
          await panel(page)
            .getByText(/\?toolsets=basic$/)
            .waitFor();
          for (const { text } of connector.notes)
            expect(await panel(page).getByText(text).isVisible(), text).toBe(true);
          await panel(page)
            .getByRole("button", { name: `Copy URL for ${connector.title}` })
            .click();
          expect(await clipboard(page)).toBe(`${program.baseUrl}/mcp/cti?toolsets=basic`);
          expect(await lookFromTop(at, `connector-${connector.name}`)).toEqual([]);
        }
      }));
  });

  test("the files are those of the visitor's system, and the others are one press away", () =>
    visit(async ({ page, context }) => {
      const browser = await context.newCDPSession(page);
      const [place] = MCP_CLIENTS.find(({ name }) => name === "vscode")?.places ?? [];
      const file = panel(page).getByRole("list", { name: "Files of VS Code" }).getByRole("listitem").first();
      const systems = Object.keys(AGENTS) as (keyof typeof AGENTS)[];
      for (const system of systems) {
        await browser.send("Emulation.setUserAgentOverride", { userAgent: AGENTS[system] });
        await page.reload();
        await choose(page, "VS Code");
        expect(await file.textContent()).toBe(`For you: ${place?.paths[system]}`);
      }
      for (const system of systems) {
        await panel(page).getByRole("radio", { name: NAMES[system] }).click();
        await expect.poll(() => file.textContent()).toBe(`For you: ${place?.paths[system]}`);
      }
    }));

  test("links add the server to VS Code and Cursor without a key, and break no policy", async () => {
    const found: string[] = [];
    for (const title of ["VS Code", "Cursor"])
      await visit(async (at) => {
        const { page } = at;
        await choose(page, title);
        await panel(page)
          .getByText(/toolsets=basic/)
          .first()
          .waitFor();
        const links = await panel(page)
          .getByRole("link", { name: /^Add to/ })
          .all();
        for (const link of links) {
          found.push((await link.getAttribute("href")) ?? "");
          // The page stays, waits for the first call, and the policy has nothing against such a link.
          await link.click();
          await page.getByText("Waiting for the first call").waitFor();
          expect(new URL(page.url()).pathname).toBe("/console/profile/endpoint");
        }
        expect(await lookFromTop(at, `links-${title}`)).toEqual([]);
      });
    const url = `${program.baseUrl}/mcp/cti?toolsets=basic`;
    const [stable = "", insiders = "", cursor = ""] = found;
    expect(found).toHaveLength(3);
    for (const href of [stable, insiders]) {
      expect(href).toMatch(/^vscode(-insiders)?:mcp\/install\?/);
      expect(JSON.parse(decodeURIComponent(href.split("?", 2)[1] ?? ""))).toEqual({
        name: "sallyport-cti",
        type: "http",
        url,
        headers: { Authorization: "Bearer $" + "{input:our-key}" },
        inputs: [{ type: "promptString", id: "our-key", description: "Service API key", password: true }],
      });
    }
    const config = new URL(cursor).searchParams.get("config") ?? "";
    expect(JSON.parse(Buffer.from(config, "base64").toString())).toEqual({
      url,
      headers: { Authorization: "Bearer $" + "{env:OUR_KEY}" },
    });
  });

  test("a second text for the same file: a variable for VS Code, a place for the key for Zed", () =>
    visit(async ({ page }) => {
      for (const [title, said] of [
        ["VS Code", "Bearer $" + "{env:OUR_KEY}"],
        ["Zed", "Bearer YOUR_API_KEY"],
      ] as const) {
        await choose(page, title);
        await panel(page)
          .getByRole("button", { name: `Copy ${title} alternative fragment` })
          .click();
        expect(await clipboard(page)).toContain(said);
      }
    }));

  test("a list above the limit of VS Code is said to be too long for it", () =>
    visit(async ({ page }) => {
      const limit = MCP_CLIENTS.find(({ name }) => name === "vscode")?.mostTools ?? 0;
      await choose(page, "VS Code");
      const cost = panel(page).locator(".cost");
      expect(await cost.textContent()).not.toMatch(/at most/);
      await page.route("**/MeasureEndpoint*", async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...(await answer.json()), tools: limit + 1 } });
      });
      await panel(page).getByText("Only tools that read").click();
      await expect.poll(() => cost.textContent()).toMatch(/takes at most 128 tools: narrow the list/);
    }));

  test("the card copies what most clients read, with the variable of the deployment", () =>
    visit(async ({ page }) => {
      await page.getByRole("button", { name: "Config of cti" }).click();
      expect(JSON.parse(await clipboard(page))).toEqual({
        mcpServers: {
          "sallyport-cti": {
            type: "http",
            url: `${program.baseUrl}/mcp/cti`,
            headers: { Authorization: "Bearer $" + "{OUR_KEY}" },
          },
        },
      });
      await page.getByText("Set OUR_KEY to one of your keys").waitFor();
    }));
});
