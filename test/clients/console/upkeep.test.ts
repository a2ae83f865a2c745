import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noChromium, startChromium } from "../../support/chromium.js";
import { atConsole, type PersonAtConsole, typeIn, withOwnPassword } from "../../support/console.js";
import { notLong } from "../../support/long.js";
import { freePorts, type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// What the console costs to load, how it is used without a mouse, and what it does while the service is away.

/** Bytes, compressed by Brotli, of all that a page asks for. */
const MOST_FOR_SIGN_IN = 200_000;
const MOST_FOR_FIRST_PAGE = 285_000;
/** What the pages of runs add to it. */
const MOST_FOR_RUNS = 30_000;

const skipped = noChromium ?? notLong;

describe.skipIf(skipped !== undefined)(titled("the console", skipped), () => {
  const dataDir = mkdtempSync(join(tmpdir(), "console-"));
  let program: Program;
  let chromium: Browser;
  let analyst: PersonAtConsole;
  let admin: PersonAtConsole;
  let start: () => Promise<Program>;

  beforeAll(async () => {
    const [port] = await freePorts(1);
    start = () => startProgram({ dataDir, keepData: true, env: { PORT: String(port) } });
    program = await start();
    chromium = await startChromium();
    analyst = await withOwnPassword(program, program.bootstrap.analyst);
    admin = await withOwnPassword(program, program.bootstrap.admin);
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
    await at.page.getByRole("link", { name: "Runs" }).click();
    await at.page.getByText("No runs", { exact: true }).waitFor();
    await at.page.waitForLoadState("networkidle");
    const runs = await bytes();
    await at.close();
    expect(signIn).toBeGreaterThan(50_000);
    expect(signIn).toBeLessThanOrEqual(MOST_FOR_SIGN_IN);
    expect(first).toBeLessThanOrEqual(MOST_FOR_FIRST_PAGE);
    expect(runs - first).toBeLessThanOrEqual(MOST_FOR_RUNS);
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
    await typeIn(page, analyst.email);
    await tabTo("password");
    await typeIn(page, analyst.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
    await tabTo("Skip to content");
    await tabTo("API Keys");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
    await tabTo("New key");
    await page.keyboard.press("Enter");
    await typeIn(page, "By keyboard");
    await page.keyboard.press("Enter");
    await page.getByText("Copy your key now").waitFor();
    await tabTo("I have saved it");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "By keyboard" }).waitFor();
    expect(await focused()).toBe("New key");
    await at.close();
  });

  test("everything is reached by Tab alone: every control of every page, and every dialog", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    await at.open("");
    await at.signIn(admin);
    await page.getByText(/with every turn/).waitFor();
    /** What has the focus, and what could have it, in the order of sight. */
    const NAME = "((e) => e.getAttribute('aria-label') || e.textContent.trim() || e.name || e.id)";
    // Radio buttons, whatever they are made of, and toolbars are one stop: arrow keys lead on in them.
    const REACHABLE = `[...document.querySelectorAll("a[href], button, input, [tabindex='0']")].filter((e) =>
      e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && e.closest("[inert], [aria-hidden=true]") === null
      && (e.closest("[role=toolbar]")?.querySelector("button") ?? e) === e
      && (e.closest("[role=radiogroup]")?.querySelector("button") ?? e) === e
      && (e.type !== "radio" || e.checked || e === document.querySelector('input[name="' + e.name + '"]')))`;
    async function walk(where: string): Promise<void> {
      await page.evaluate("document.activeElement.blur(), window.getSelection().removeAllRanges()");
      const names = (await page.evaluate(
        `(${REACHABLE}).map((e, n) => { e.dataset.walk = n; return ${NAME}(e); })`,
      )) as string[];
      const seen: number[] = [];
      for (let n = 0; n < names.length * 2 + 5; n++) {
        await page.keyboard.press("Tab");
        const now = (await page.evaluate("Number(document.activeElement.dataset.walk ?? -1)")) as number;
        if (now >= 0) seen.push(now);
        if (new Set(seen).size === names.length && n >= names.length) break;
      }
      const missed = names.filter((_, n) => !seen.includes(n));
      expect(missed, `Tab does not reach these of ${where}`).toEqual([]);
      // The order of the focus is the order of the page, from wherever it begins.
      const first = seen.slice(0, names.length);
      const turns = first.filter((now, n) => n > 0 && now < (first[n - 1] as number)).length;
      expect(turns, `the order in ${where}: ${first.map((n) => names[n]).join(", ")}`).toBeLessThanOrEqual(1);
    }
    /** Opens a dialog by keyboard; Escape leads back to its button. */
    async function dialog(button: string | RegExp): Promise<void> {
      const opener = page.getByRole("button", { name: button }).first();
      await opener.focus();
      const name = await opener.getAttribute("aria-label").then(async (label) => label ?? (await opener.innerText()));
      await page.keyboard.press("Enter");
      const opened = page.getByRole("dialog").or(page.getByRole("alertdialog"));
      await opened.waitFor();
      const controls = await opened.locator("button:visible, input:visible").count();
      const inside = new Set<string>();
      for (let n = 0; n < controls + 3; n++) {
        inside.add(
          (await page.evaluate(
            "document.activeElement.closest('[role=dialog], [role=alertdialog]') !== null ? 'in' : 'out'",
          )) as string,
        );
        await page.keyboard.press("Tab");
      }
      expect([...inside], `the focus stays in the dialog of ${name}`).toEqual(["in"]);
      await page.keyboard.press("Escape");
      await opened.waitFor({ state: "detached" });
      await expect.poll(() => page.evaluate(`${NAME}(document.activeElement)`), { message: name }).toBe(name);
    }
    const PAGES: readonly (readonly [string, RegExp, readonly (string | RegExp)[]])[] = [
      ["profile/endpoint", /with every turn/, []],
      ["profile/keys", /active key/, ["New key", /^Revoke /]],
      ["profile/connections", /Last used/, ["Sign out everywhere", /^End /]],
      ["agents/runs", /No runs/, []],
      ["settings/endpoint", /Platform Tools MCP Server/, ["New token"]],
      ["settings/people", /E-mail address/, ["New person", /^Change /, /^Delete /]],
      ["settings/groups", /Created/, ["New group", /^Rename /, /^Delete /]],
      ["settings/audit", /Outcome/, []],
      ["nowhere", /There is nothing at this address/, []],
    ];
    for (const [path, there, dialogs] of PAGES) {
      await at.open(path);
      await page.getByText(there).first().waitFor();
      await page.waitForLoadState("networkidle");
      await walk(path);
      for (const button of dialogs) await dialog(button);
    }
    await at.close();
  });

  test("after a row is gone, the focus is at the content", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    await at.open("profile/keys");
    await at.signIn(analyst);
    await page.getByRole("button", { name: "New key" }).click();
    await typeIn(page, "To be revoked");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "I have saved it" }).press("Enter");
    await page.getByRole("button", { name: "Revoke To be revoked" }).press("Enter");
    await page.getByRole("button", { name: "Revoke key" }).press("Enter");
    await page.getByRole("rowheader", { name: "To be revoked" }).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("content");
    await at.close();
  });

  test("after an update a stale tab reloads once, and never in a loop", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    await at.open("profile/keys");
    await at.signIn(admin);
    await page.getByRole("link", { name: "Audit" }).waitFor();
    let loads = 0;
    page.on("load", () => {
      loads += 1;
    });
    // The file has another name now: the service answers 404 for the old one.
    let missing = true;
    await page.route(/\/assets\/audit-[^/]*\.js$/, (route) =>
      missing ? route.fulfill({ status: 404, contentType: "application/json", body: "{}" }) : route.continue(),
    );
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("heading", { name: "This page could not be shown" }).waitFor();
    await page.waitForTimeout(1_500);
    expect(loads).toBe(1);
    missing = false;
    await page.getByRole("button", { name: "Load the page again" }).click();
    await page.getByRole("rowheader").first().waitFor();
    await at.close();
  });

  test("the service restarts under a list: it says so, and the list is read again", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    await at.open("settings/audit");
    await at.signIn(admin);
    await page.getByRole("rowheader").first().waitFor();
    await program.stop();
    await page.getByRole("button", { name: /When/ }).click();
    await page.getByRole("option", { name: "The last 24 hours" }).click();
    await page.getByText("The service does not answer", { exact: true }).waitFor();
    program = await start();
    await page.getByText("The service does not answer", { exact: true }).waitFor({ state: "detached" });
    await page.getByRole("rowheader").first().waitFor();
    expect(await at.look("a list after a restart")).toEqual([]);
    await at.close();
  });

  test("the service restarts under an open page: it says so, keeps what is written, and goes on", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    await at.open("profile/keys");
    await at.signIn(analyst);
    await page.getByRole("button", { name: "New key" }).click();
    await typeIn(page, "Written before the restart");
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
