import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RealProvider, startRealProvider } from "../../services/auth/federation/real-provider.js";
import { noChromium, startChromium } from "../../support/chromium.js";
import { type AtConsole, atConsole, type PersonAtConsole, typeIn, withOwnPassword } from "../../support/console.js";
import { freePorts, type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// People sign in at the console: at their company's provider, which is a certified one with its own pages, and by
// password, with too many tries, and as somebody else than before.

const SECRET = "a-secret-of-the-client-0123456789";
const BUTTON = "Sign in with Corp";

describe.skipIf(noChromium !== undefined)(titled("signing in at the console", noChromium), () => {
  let provider: RealProvider;
  let program: Program;
  let chromium: Browser;
  let analyst: PersonAtConsole;
  let admin: PersonAtConsole;

  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    const redirectUri = `http://127.0.0.1:${port}/oauth/federation/corp/callback`;
    provider = await startRealProvider({ redirectUri, clientSecret: SECRET });
    const corp = {
      ...{ id: "corp", label: "Corp", issuer: provider.issuer, client_id: "sallyport", client_secret: SECRET },
      ...{ email_domains: ["corp.example"], creates_users: true, scopes: ["profile"] },
    };
    program = await startProgram({
      env: { PORT: String(port), SIGN_IN_PROVIDERS: JSON.stringify([corp]), SERVICE_NAME: "Gate & Co" },
    });
    chromium = await startChromium();
    analyst = await withOwnPassword(program, program.bootstrap.analyst);
    admin = await withOwnPassword(program, program.bootstrap.admin);
    for (const name of ["ana", "bo"]) {
      provider.people.set(name, { email: `${name}@corp.example`, email_verified: true, name: `${name} of Corp` });
    }
    provider.people.set("eve", { email: "eve@corp.example", email_verified: false, name: "Eve" });
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
    await provider?.close();
  });

  async function visit(work: (at: AtConsole) => Promise<void>): Promise<void> {
    const at = await atConsole(chromium, program);
    try {
      await work(at);
    } finally {
      await at.close();
    }
  }

  /** At the provider's own page. */
  async function asAtProvider({ page }: AtConsole, name: string): Promise<void> {
    await page.getByRole("link", { name: BUTTON }).click();
    await page.waitForURL((url) => url.origin === provider.issuer);
    await page.locator("[name=username]").fill(name);
    await page.locator("[name=password]").fill(name);
    // The form of the provider has no button.
    await page.evaluate("document.forms[0].submit()");
    await page.waitForURL((url) => url.origin !== provider.issuer);
  }

  test("a provider's button leads there, and back to the deep link", () =>
    visit(async (at) => {
      await at.open("profile/connections");
      await at.page.getByRole("heading", { name: "Sign in to Gate & Co" }).waitFor();
      expect(await at.lookEverywhere("sign-in-provider")).toEqual([]);
      await asAtProvider(at, "ana");
      await at.page.getByRole("heading", { name: "Connections", level: 1 }).waitFor();
      expect(new URL(at.page.url()).pathname).toBe("/console/profile/connections");
      await at.page.getByRole("button", { name: "ana of Corp" }).waitFor();
    }));

  test("what a provider or we refuse is a sentence, and leads back to the sign-in", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("profile/keys");
      await asAtProvider(at, "eve");
      await page.getByText(/has not verified your e-mail address/).waitFor();
      expect(await at.look("refused by us")).toEqual([]);
      await at.context.clearCookies();
      await at.open("profile/keys");
      await page.getByRole("link", { name: BUTTON }).click();
      await page.waitForURL((url) => url.origin === provider.issuer);
      // What the provider's own button to cancel does.
      await page.evaluate(`(() => {
        const form = document.forms[0];
        form.append(Object.assign(document.createElement("input"), { name: "cancel", value: "yes" }));
        form.submit();
      })()`);
      await page.waitForURL((url) => url.origin !== provider.issuer);
      expect(await page.getByRole("main").innerText()).toMatch(/Corp/);
      expect(await at.look("cancelled")).toEqual([]);
      await page.getByRole("link").first().click();
      await page.getByRole("heading", { name: "Sign in to Gate & Co" }).waitFor();
    }));

  test("a session that ends in a form, then the provider: the text is there, and to somebody else it is not", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("profile/keys");
      await asAtProvider(at, "ana");
      const form = async (): Promise<void> => {
        await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
        await page.getByRole("button", { name: "New key" }).click();
      };
      await form();
      await typeIn(page, "A name of Ana's");
      await page.getByText("It may only read").click();
      await at.context.clearCookies({ name: "sallyport" });
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
      // The provider knows the browser, and asks for nothing.
      await page.getByRole("link", { name: BUTTON }).click();
      await form();
      expect(await page.getByLabel("Name").inputValue()).toBe("A name of Ana's");
      expect(await page.getByRole("switch", { name: "It may only read" }).isChecked()).toBe(true);
      await at.context.clearCookies();
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
      await asAtProvider(at, "bo");
      await form();
      expect(await page.getByLabel("Name").inputValue()).toBe("");
    }));

  test("a session that ends in a form, then the password of somebody else: the page is dropped", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("settings/people");
      await at.signIn(admin);
      await page.getByRole("button", { name: "New person" }).click();
      await page.getByLabel("Name").fill("A name of the administrator's");
      await at.context.clearCookies({ name: "sallyport" });
      await page.getByLabel("E-mail address").fill("new@sallyport.example");
      await page.getByRole("button", { name: "Create person" }).click();
      const again = page.getByRole("dialog").filter({ hasText: "Your session has ended" });
      await again.getByLabel("E-mail address").fill(analyst.email);
      await again.getByLabel("Password").fill(analyst.password);
      await again.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByText("You may not see this").waitFor();
      expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("administrator's");
      expect(await page.content()).not.toContain("administrator's");
    }));

  test("an address to return to is one of ours, or there is no sign-in", () =>
    visit(async ({ page }) => {
      for (const foreign of ["https://evil.example/", "//evil.example/", "/\\evil.example", "/mcp/cti"]) {
        const url = `${program.baseUrl}/oauth/federation/corp?return_to=${encodeURIComponent(foreign)}`;
        const answer = await page.goto(url);
        expect(answer?.status(), foreign).toBe(403);
        expect(new URL(page.url()).origin).toBe(new URL(program.baseUrl).origin);
      }
    }));

  test("after too many wrong passwords the page says for how long to wait", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("");
      const throttled = page.getByText(/Too many sign-ins have failed/);
      // The waits double: on a slow machine the first are over before the next try.
      for (let n = 0; n < 14 && !(await throttled.isVisible()); n++) {
        const answered = page.waitForResponse((answer) => answer.url().endsWith("/console/session"));
        await at.signIn({ email: "nobody@sallyport.example", password: `wrong ${n}` });
        await answered;
        await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
      }
      await page.getByText(/Too many sign-ins have failed: try again in (?:a second|\d+ seconds)\./).waitFor();
      expect(await at.lookEverywhere("sign-in-throttled")).toEqual([]);
      // Somebody else's wrong passwords keep nobody out.
      await at.signIn(analyst);
      await page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
    }));
});
