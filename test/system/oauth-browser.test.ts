import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noChromium, startChromium } from "../support/chromium.js";
import { post } from "../support/mcp.js";
import { authorizeUrl, redeem, register } from "../support/oauth/by-hand.js";
import { nativeClient } from "../support/oauth/client-state.js";
import { OWN_PASSWORD } from "../support/oauth/person.js";
import { type Program, startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

// The pages of sign-in and consent in a real browser, which holds our policies
// against us: redirects of forms, cookies, frames.

const VERIFIER = "a verifier that is long enough for RFC 7636".replaceAll(" ", "-");

/** Where screenshots are kept; nowhere unless it is set. */
const { SCREENSHOTS } = process.env;

describe.skipIf(noChromium !== undefined)(titled("in Chromium", noChromium), () => {
  let program: Program;
  let chromium: Browser;
  let client: Server;
  let callback: string;
  const came: URL[] = [];

  beforeAll(async () => {
    client = createServer((request, response) => {
      const url = new URL(request.url ?? "", callback);
      // A browser also asks for an icon.
      if (url.pathname === "/callback") came.push(url);
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Connected</h1>");
    }).listen(0, "127.0.0.1");
    await once(client, "listening");
    callback = `http://127.0.0.1:${(client.address() as AddressInfo).port}/callback`;
    program = await startProgram();
    chromium = await startChromium();
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
    client?.close();
  });

  async function shot(page: Page, name: string): Promise<void> {
    if (SCREENSHOTS === undefined) return;
    mkdirSync(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  test("a person signs in, chooses a password, allows, and the client is connected", async () => {
    const { baseUrl } = program;
    const { analyst } = program.bootstrap;
    const registered = await register(baseUrl, nativeClient(callback, { client_name: "Desktop assistant" }));
    const context = await chromium.newContext({ viewport: { width: 720, height: 760 } });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));

    const resource = `${baseUrl}/mcp/cti`;
    await page.goto(authorizeUrl(registered, { resource }, VERIFIER).href);
    expect(await page.title()).toBe("Sign in · Sallyport");
    await shot(page, "sign-in");
    await page.getByLabel("E-mail address").fill(analyst.email);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    expect(await page.getByRole("alert").textContent()).toBe("The e-mail address or the password is wrong.");
    await page.getByLabel("Password").fill(analyst.password);
    await page.getByRole("button", { name: "Sign in" }).click();

    expect(await page.title()).toBe("Choose a new password · Sallyport");
    await shot(page, "new-password");
    await page.getByLabel("Password until now").fill(analyst.password);
    await page.getByLabel("New password").fill(OWN_PASSWORD);
    await page.getByRole("button", { name: "Change the password" }).click();

    expect(await page.getByRole("heading").textContent()).toBe("Connect Desktop assistant?");
    expect(await page.locator("#redirect").textContent()).toBe(new URL(callback).host);
    await shot(page, "consent");
    await page.emulateMedia({ colorScheme: "dark" });
    await shot(page, "consent-dark");
    await page.setViewportSize({ width: 390, height: 760 });
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.getByLabel("create, change and delete").uncheck();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();

    const code = came.at(-1)?.searchParams.get("code") as string;
    const { body } = await redeem({ ...registered, code, verifier: VERIFIER, resource });
    expect(body.scope).toBe("cti:read");
    expect((await post(resource, body.access_token as string, "tools/list")).status).toBe(200);
    // A browser that refused something of ours says so.
    expect(complaints.filter((one) => !one.includes("401 (Unauthorized)"))).toEqual([]);
    await context.close();
  });

  test("who is signed in is asked for consent at once, and may deny", async () => {
    const { baseUrl, bootstrap } = program;
    const registered = await register(baseUrl, nativeClient(callback));
    const context = await chromium.newContext();
    const page = await context.newPage();
    const url = authorizeUrl(registered, { resource: `${baseUrl}/mcp/grc` }).href;
    await page.goto(url);
    await page.getByLabel("E-mail address").fill(bootstrap.analyst.email);
    await page.getByLabel("Password").fill(OWN_PASSWORD);
    // By the keyboard alone.
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    expect(came.at(-1)?.searchParams.get("error")).toBe("access_denied");
    await page.goto(url);
    expect(await page.getByRole("heading").textContent()).toBe("Connect Test client?");
    await page.getByRole("button", { name: "Sign in as somebody else" }).click();
    await page.getByLabel("E-mail address").fill(bootstrap.admin.email);
    await page.getByLabel("Password").fill(bootstrap.admin.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Password until now").fill(bootstrap.admin.password);
    await page.getByLabel("New password").fill(OWN_PASSWORD);
    await page.getByRole("button", { name: "Change the password" }).click();
    expect(await page.getByRole("main").textContent()).toContain(`as ${bootstrap.admin.email}`);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    expect(came.at(-1)?.searchParams.has("code")).toBe(true);
    await context.close();
  });

  test("another site can neither frame the page nor send its form", async () => {
    const { baseUrl } = program;
    const registered = await register(baseUrl, nativeClient(callback));
    const context = await chromium.newContext();
    const page = await context.newPage();
    const target = authorizeUrl(registered, { resource: `${baseUrl}/mcp/cti` }).href;
    await page.route("http://evil.test/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<iframe src="${target.replaceAll("&", "&amp;")}"></iframe>` }),
    );
    await page.goto("http://evil.test/");
    await page.waitForTimeout(500);
    expect(page.frames().map((frame) => frame.url())).not.toContain(expect.stringContaining("/oauth/interaction/"));
    await context.close();
  });
});
