import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Browser, Download, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { connectClient } from "../../../clients/node/connect.js";
import { noChromium, startChromium } from "../../support/chromium.js";
import {
  type AtConsole,
  atConsole,
  newPerson,
  type PersonAtConsole,
  typeIn,
  withOwnPassword,
} from "../../support/console.js";
import { notLong } from "../../support/long.js";
import { post, toolNames } from "../../support/mcp.js";
import { Browser as FormBrowser } from "../../support/oauth/browser.js";
import { ClientState, nativeClient } from "../../support/oauth/client-state.js";
import { connect } from "../../support/oauth/connect.js";
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";
import { unzip } from "../../support/unzip.js";

// My Profile > MCP Endpoint: what its cards and dialogs say is so, and the client that it names is the one that
// connected. The clients are those of the official SDKs.

const DAY_MS = 86_400_000;

const skipped = noChromium ?? notLong;

describe.skipIf(skipped !== undefined)(titled("My Profile > MCP Endpoint", skipped), () => {
  let chromium: Browser;
  /** With every platform. */
  let program: Program;
  /** With core alone, once it is switched on. */
  let bare: Program;
  let analyst: PersonAtConsole;

  beforeAll(async () => {
    [program, bare] = await Promise.all([startProgram(), startProgram({ env: { SANDBOX: "off" } })]);
    chromium = await startChromium();
    analyst = await withOwnPassword(program, program.bootstrap.analyst);
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
    await bare?.stop();
  });

  async function as(
    person: PersonAtConsole,
    work: (page: Page, at: AtConsole) => Promise<void>,
    { where = program, before }: { where?: Program; before?: (page: Page) => Promise<void> } = {},
  ) {
    const at = await atConsole(chromium, where);
    try {
      await before?.(at.page);
      await at.open("profile/endpoint");
      await at.signIn(person);
      await at.page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
      await work(at.page, at);
      expect(await at.look("end of work")).toEqual([]);
    } finally {
      await at.close();
    }
  }

  const api = <S extends Parameters<typeof connectClient>[0]>(
    service: S,
    { bootstrap, baseUrl }: Program,
    who = "analyst",
  ) =>
    connectClient(service, {
      baseUrl: `${baseUrl}/rpc`,
      apiKey: bootstrap[who as "admin" | "analyst"].api_key,
      httpVersion: "1.1" as const,
    });
  const settings = (where: Program) => api(SettingService, where, "admin");
  const cardOf = (page: Page, server: string) => page.locator(`article[aria-labelledby="card-${server}"]`);
  const waiting = (page: Page) => page.getByRole("region", { name: "The first call" });
  const clipboard = (page: Page): Promise<string> => page.evaluate("navigator.clipboard.readText()") as Promise<string>;

  async function newKey(name: string): Promise<string> {
    return (await api(ApiKeyService, program).createApiKey({ name })).token;
  }

  /** A client of the official SDK that connects and lists. */
  async function connectAs(name: string, key: string, server = "cti"): Promise<OldClient> {
    const client = new OldClient({ name, version: "1.0" });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new OldTransport(new URL(`${program.baseUrl}/mcp/${server}`), { requestInit }) as never);
    await client.listTools();
    return client;
  }

  async function modernAs(name: string, key: string): Promise<void> {
    const client = new Client({ name, version: "2.0" }, { versionNegotiation: { mode: "auto" as const } });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${program.baseUrl}/mcp/cti`), { requestInit }));
    await client.listTools();
    await client.close();
  }

  async function chooseKey(page: Page, name: string): Promise<void> {
    await waiting(page)
      .getByRole("button", { name: /The key that the client uses/ })
      .click();
    await page.getByRole("option", { name: new RegExp(`^${name},`) }).click();
  }

  /** Presses a button, and gives what is downloaded. */
  async function downloaded(page: Page, press: () => Promise<void>): Promise<{ download: Download; content: Buffer }> {
    const coming = page.waitForEvent("download");
    await press();
    const download = await coming;
    return { download, content: readFileSync(await download.path()) };
  }

  async function keyIn(mcpb: Buffer): Promise<string | undefined> {
    const manifest = (await unzip(mcpb)).get("manifest.json")?.toString() ?? "";
    return JSON.parse(manifest).server.mcp_config.env.SERVICE_API_KEY;
  }

  async function expectNoKeyIn(zip: Buffer): Promise<void> {
    for (const [path, body] of await unzip(zip)) expect(body.toString("latin1"), path).not.toMatch(/slp_\w/);
  }

  test("a copied configuration: the page waits for the key that was made last, and names its client", async () => {
    const key = await newKey("Made last");
    await as(analyst, async (page, at) => {
      await page.getByRole("button", { name: "Config of cti" }).click();
      const { mcpServers } = JSON.parse(await clipboard(page));
      expect(mcpServers["sallyport-cti"].url).toBe(`${program.baseUrl}/mcp/cti`);
      await waiting(page).getByText("Waiting for the first call").waitFor();
      await waiting(page)
        .getByRole("button", { name: /Made last, never used/ })
        .waitFor();
      expect(await at.look("first-call-waits")).toEqual([]);
      await (await connectAs("new-client", key)).close();
      await waiting(page).getByText("new-client 1.0 has connected").waitFor();
      await waiting(page).getByText("It uses the key “Made last”").waitFor();
      expect(await at.look("first-call-came")).toEqual([]);
      await waiting(page).getByRole("button", { name: "Close" }).click();
      expect(await waiting(page).count()).toBe(0);
    });
  });

  test("while another client keeps calling with another key, the wait names the one that it is for", async () => {
    const [old, fresh] = [await newKey("Of the old client"), await newKey("Of the new client")];
    const busy = await connectAs("old-client", old);
    await as(analyst, async (page) => {
      await page.getByRole("button", { name: "Config of cti" }).click();
      await waiting(page)
        .getByRole("button", { name: /Of the new client, never used/ })
        .waitFor();
      for (let n = 0; n < 8; n++) {
        await busy.listTools();
        // It even starts again, with the key that it has.
        if (n === 4) await (await connectAs("old-client", old)).close();
        await page.waitForTimeout(600);
        expect(await waiting(page).textContent()).not.toContain("has connected");
      }
      await modernAs("modern-client", fresh);
      await waiting(page).getByText("modern-client 2.0 has connected").waitFor();
    });
    await busy.close();
  });

  test("of a key that is in use, only a client that starts from then on counts", async () => {
    const used = await newKey("In use");
    const busy = await connectAs("first-client", used);
    await newKey("Newer");
    await as(analyst, async (page) => {
      await page.getByRole("button", { name: "Config of cti" }).click();
      await chooseKey(page, "In use");
      await waiting(page).getByText("A client uses this key already").waitFor();
      for (let n = 0; n < 5; n++) {
        await busy.listTools();
        await page.waitForTimeout(600);
      }
      expect(await waiting(page).textContent()).toContain("Waiting for the first call");
      await (await connectAs("second-client", used)).close();
      await waiting(page).getByText("second-client 1.0 has connected").waitFor();
    });
    await busy.close();
  });

  test("a client that signs its person in, instead of using a key, is a first call as well", () =>
    as(analyst, async (page) => {
      await page.getByRole("button", { name: "Config of grc" }).click();
      await waiting(page)
        .getByRole("button", { name: /The key that the client uses/ })
        .waitFor();
      const redirect = "http://127.0.0.1:9/callback";
      const state = new ClientState(redirect, nativeClient(redirect));
      const browser = new FormBrowser({ ...analyst, answer: "allow", write: "yes" });
      const client = await connect("client 2, 2026-07-28", `${program.baseUrl}/mcp/grc`, state, browser);
      await waiting(page).getByText("test 1 has connected").waitFor();
      await waiting(page).getByText("It signed you in as “Test client”").waitFor();
      await client.close();
      await page.getByRole("navigation").getByRole("link", { name: "Connections" }).click();
      await page
        .getByRole("row")
        .filter({ hasText: /Test client.*test 1/ })
        .waitFor();
    }));

  test("a call of a client that gives no name counts, and is said to have none", async () => {
    const key = await newKey("Without a name");
    await as(analyst, async (page) => {
      await page.getByRole("button", { name: "Config of cti" }).click();
      await waiting(page)
        .getByRole("button", { name: /Without a name/ })
        .waitFor();
      expect((await post(`${program.baseUrl}/mcp/cti`, key, "tools/list")).status).toBe(200);
      await waiting(page).getByText("A client that gives no name has connected").waitFor();
    });
  });

  test("a client that never calls: after two minutes the page says what to check; a reload keeps the wait", async () => {
    await newKey("Never used");
    await as(
      analyst,
      async (page, at) => {
        await page.getByRole("button", { name: "Config of aev" }).click();
        await waiting(page).getByText("Waiting for the first call").waitFor();
        expect(await page.getByText("No client has called yet").count()).toBe(0);
        await page.clock.fastForward("02:01");
        await waiting(page).getByText("No client has called yet. Check these:").waitFor();
        await waiting(page).getByText("SERVICE_API_KEY is set in the environment").waitFor();
        expect(await at.look("first-call-overdue")).toEqual([]);
        await page.reload();
        await waiting(page).getByText("No client has called yet. Check these:").waitFor();
        await waiting(page).getByRole("button", { name: "Stop waiting" }).click();
        expect(await waiting(page).count()).toBe(0);
        await page.reload();
        await page.getByRole("button", { name: "Config of aev" }).waitFor();
        expect(await waiting(page).count()).toBe(0);
      },
      { before: (page) => page.clock.install() },
    );
  });

  test("the browser refuses the clipboard: the configuration is shown, selected", () =>
    as(
      analyst,
      async (page, at) => {
        await page.getByRole("button", { name: "Config of cti" }).click();
        const text = page.getByRole("textbox", { name: "Configuration of cti" });
        await text.waitFor();
        expect(JSON.parse(await text.inputValue()).mcpServers["sallyport-cti"].url).toBe(`${program.baseUrl}/mcp/cti`);
        await expect.poll(() => page.evaluate("document.getSelection().toString()")).toBe(await text.inputValue());
        expect(await at.look("clipboard-refused")).toEqual([]);
        await page.getByRole("button", { name: "I have copied it" }).click();
        await waiting(page).getByText("Waiting for the first call").waitFor();
      },
      {
        before: async (page) => {
          await page.addInitScript(
            "Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new DOMException('', 'NotAllowedError')) } })",
          );
        },
      },
    ));

  test("several servers: the dialog says which key is made and when it expires, and the wait is for that key", () =>
    as(analyst, async (page, at) => {
      await page.getByRole("button", { name: "Download for Claude Desktop" }).click();
      const dialog = page.getByRole("dialog");
      const tools = await toolNames(`${program.baseUrl}/mcp/grc`, program.bootstrap.analyst.api_key);
      await dialog.getByText(new RegExp(`^grc: .*, ${tools.length} tools$`)).click();
      await dialog.getByText("A new key named “Claude Desktop (grc)”, for grc alone").waitFor();
      await dialog
        .getByRole("button", { name: /The key expires/ })
        .getByText("In 90 days")
        .waitFor();
      expect(await at.look("package-dialog")).toEqual([]);
      await dialog.getByRole("button", { name: /The key expires/ }).click();
      await page.getByRole("option", { name: "In 30 days" }).click();
      await dialog.getByText("Fewer tools").click();
      await dialog.getByText("In the package, only tools that read").click();
      const { download, content } = await downloaded(page, () =>
        dialog.getByRole("button", { name: "Download", exact: true }).click(),
      );
      expect(download.suggestedFilename()).toBe("sallyport-grc.mcpb");
      await page.getByText(/The key “Claude Desktop \(grc\)” is in it, and expires on /).waitFor();
      await page.getByText(`SHA-256 ${createHash("sha256").update(content).digest("hex")}`).waitFor();
      const key = (await keyIn(content)) as string;
      const { keys } = await api(ApiKeyService, program).listApiKeys({ pageSize: 100 });
      const made = keys.find(({ name }) => name === "Claude Desktop (grc)");
      expect(made?.scopes).toEqual(["grc:read"]);
      expect(Math.abs(timestampMs(made?.expiresAt as never) - Date.now() - 30 * DAY_MS)).toBeLessThan(DAY_MS / 24);
      const all = await unzip(content);
      expect(all.get("manifest.json")?.toString()).toContain("readonly=1");
      // A call with another key is not what is waited for.
      await (await connectAs("somebody-else", program.bootstrap.analyst.api_key, "grc")).close();
      await page.waitForTimeout(3_000);
      expect(await waiting(page).textContent()).toContain("Install the file in the client.");
      await (await connectAs("desktop", key, "grc")).close();
      await waiting(page).getByText("desktop 1.0 has connected").waitFor();
      await waiting(page).getByText("It uses the key “Claude Desktop (grc)”").waitFor();
    }));

  test("one click off: no key is in the file, and the client asks; an agent plugin never has one", () =>
    as(analyst, async (page) => {
      await page.getByRole("button", { name: "Download for Agent plugin" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("This format never carries a key.").waitFor();
      const download = () => dialog.getByRole("button", { name: "Download", exact: true }).click();
      await expectNoKeyIn((await downloaded(page, download)).content);
      await page.getByText("One click: with a new key").click();
      await page.getByRole("button", { name: "Download for Claude Code" }).click();
      await dialog.getByText("No key is in the file. Your client asks for one of your keys").waitFor();
      expect(await dialog.getByText("The key expires").count()).toBe(0);
      await expectNoKeyIn((await downloaded(page, download)).content);
      await page.getByText(/^SHA-256 /).waitFor();
      await waiting(page)
        .getByRole("button", { name: /The key that the client uses/ })
        .waitFor();
    }));

  test("a person without a key: cards, dialog and wait say so, and point to API Keys", async () => {
    const keyless = await newPerson(program, "without@sallyport.example");
    await as(keyless, async (page, at) => {
      await page.getByText("You have no API key", { exact: true }).waitFor();
      await cardOf(page, "grc").getByText("Most clients need an API key, and you have none").waitFor();
      await page.getByText("One click: with a new key").click();
      await page.getByRole("button", { name: "Download for Claude Code" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("Your client asks for one, and you have none").waitFor();
      expect(await at.look("package-without-a-key")).toEqual([]);
      await page.keyboard.press("Escape");
      await page
        .getByRole("button", { name: /^Config of / })
        .first()
        .click();
      await waiting(page).getByText("You have no API key: create one").waitFor();
      await waiting(page).getByRole("link", { name: "API Keys" }).click();
      await page.getByRole("button", { name: "Create your first key" }).click();
      await typeIn(page, "First");
      await page.keyboard.press("Enter");
      const key = (await page.locator(".secret code").textContent()) as string;
      await page.getByRole("button", { name: "I have saved it" }).click();
      await page.getByRole("navigation").getByRole("link", { name: "MCP Endpoint" }).first().click();
      // The wait went on, and is for the key that was created from there.
      await waiting(page)
        .getByRole("button", { name: /First, never used/ })
        .waitFor();
      await (await connectAs("first-ever", key, "core")).close();
      await waiting(page).getByText("first-ever 1.0 has connected").waitFor();
    });
  });

  test("a person who has no rights on a platform: the card says which, and whom to ask", async () => {
    const powerless = await newPerson(program, "outsider@sallyport.example");
    await as(powerless, async (page) => {
      const card = cardOf(page, "grc");
      await card.getByText(/You have no tool here but whoami: .* on the grc platform/).waitFor();
      await card.getByText(/administrator/).waitFor();
      expect(await card.getByText(/tools? for you/).count()).toBe(0);
    });
  });

  test("not registered, core off, AI off: each card says why, who switched it, and whom to ask", async () => {
    const admin = settings(bare);
    const person = await newPerson(bare, "reader@sallyport.example");
    await admin.updateSettings({ core: true });
    await admin.updateSettings({ core: false });
    await as(
      person,
      async (page, at) => {
        const cti = cardOf(page, "cti");
        await cti.getByText("Not connected").waitFor();
        await cti.getByText("No platform is registered here. Ask an administrator to register one.").waitFor();
        expect(await cti.getByRole("button", { name: "Config of cti" }).isDisabled()).toBe(true);
        const core = cardOf(page, "core");
        await core.getByText("Switched off").waitFor();
        await core.getByText(/^Administrator switched this server off on .*Ask an administrator/).waitFor();
        expect(await page.getByRole("heading", { name: "Packages" }).count()).toBe(0);
        expect(await at.look("endpoint-all-off")).toEqual([]);
        await admin.updateSettings({ core: true, ai: false });
        await page.reload();
        await core.getByText(/^Administrator switched AI off on .*, and this server needs it\./).waitFor();
        expect(await page.content()).not.toContain(bare.bootstrap.admin.email);
      },
      { where: bare },
    );
    await admin.updateSettings({ core: true, ai: true });
  });

  test("one live server: the expiry stands on the page, and a package is downloaded at once", async () => {
    await settings(bare).updateSettings({ core: true, ai: true });
    const person = await newPerson(bare, "alone@sallyport.example");
    await as(
      person,
      async (page, at) => {
        await page.getByText("A new key named “Claude Code (core)” or “Claude Desktop (core)”").waitFor();
        await page
          .getByRole("button", { name: /The key expires/ })
          .getByText("In 90 days")
          .waitFor();
        expect(await at.look("packages-one-server")).toEqual([]);
        await page.getByRole("button", { name: /The key expires/ }).click();
        await page.getByRole("option", { name: "In a year" }).click();
        const press = () => page.getByRole("button", { name: "Download for Claude Desktop" }).click();
        const withKey = await downloaded(page, press);
        expect(await page.getByRole("dialog").count()).toBe(0);
        await page.getByText(/The key “Claude Desktop \(core\)” is in it, and expires on /).waitFor();
        const keys = connectClient(ApiKeyService, {
          baseUrl: `${bare.baseUrl}/rpc`,
          apiKey: bare.bootstrap.admin.api_key,
          httpVersion: "1.1",
        });
        const { keys: found } = await keys.listApiKeys({ userEmail: person.email });
        expect(found.map(({ name }) => name)).toEqual(["Claude Desktop (core)"]);
        expect(Math.abs(timestampMs(found[0]?.expiresAt as never) - Date.now() - 365 * DAY_MS)).toBeLessThan(
          DAY_MS / 24,
        );
        expect(
          (await toolNames(`${bare.baseUrl}/mcp/core`, (await keyIn(withKey.content)) as string)).length,
        ).toBeGreaterThan(0);
        await page.getByText("One click: with a new key").click();
        await page.getByText("No key is in the file.").first().waitFor();
        const without = await downloaded(page, press);
        expect(without.download.suggestedFilename()).toBe("sallyport-core.mcpb");
        await expectNoKeyIn(without.content);
      },
      { where: bare },
    );
  });
});
