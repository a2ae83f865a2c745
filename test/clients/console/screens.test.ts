import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noChromium, startChromium } from "../../support/chromium.js";
import {
  type AtConsole,
  atConsole,
  newPerson,
  type PersonAtConsole,
  type View,
  withOwnPassword,
} from "../../support/console.js";
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// Every screen of the console: in both themes and on a narrow one, as an administrator and as an analyst.

const VIEWS: readonly (View & { readonly name: string })[] = [
  { name: "light" },
  { name: "dark", theme: "dark" },
  { name: "narrow", width: 390 },
];

describe.skipIf(noChromium !== undefined)(titled("the console's screens", noChromium), () => {
  let program: Program;
  let chromium: Browser;
  let analyst: PersonAtConsole;
  let admin: PersonAtConsole;
  let keyless: PersonAtConsole;

  beforeAll(async () => {
    program = await startProgram();
    chromium = await startChromium();
    analyst = await withOwnPassword(program, program.bootstrap.analyst);
    admin = await withOwnPassword(program, program.bootstrap.admin);
    keyless = await newPerson(program, "keyless@sallyport.example");
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
  });

  async function visit(view: View, work: (at: AtConsole) => Promise<void>): Promise<void> {
    const at = await atConsole(chromium, program, view);
    try {
      await work(at);
    } finally {
      await at.close();
    }
  }

  describe.each(VIEWS)("$name", ({ name: view, ...options }) => {
    test("sign-in: as it opens, and after a wrong password", () =>
      visit(options, async (at) => {
        await at.open("");
        await at.page.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
        expect(await at.look(`sign-in-${view}`)).toEqual([]);
        await at.signIn({ email: analyst.email, password: "not the password" });
        await at.page.getByText("The e-mail address or the password is wrong.").waitFor();
        expect(await at.look(`sign-in-wrong-${view}`)).toEqual([]);
      }));

    test("an analyst's pages", () =>
      visit(options, async (at) => {
        const { page } = at;
        await at.open("");
        await at.signIn(analyst);
        await page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
        await page
          .getByText(/tools? for you/)
          .nth(2)
          .waitFor();
        await page.getByText(/with every turn/).waitFor();
        expect(await at.look(`endpoint-analyst-${view}`)).toEqual([]);
        await at.open("profile/keys");
        await page.getByText(/active key/).waitFor();
        expect(await at.look(`keys-${view}`)).toEqual([]);
        await page.getByRole("button", { name: "New key" }).click();
        await page.getByRole("heading", { name: "New API key" }).waitFor();
        expect(await at.look(`new-key-${view}`)).toEqual([]);
        await page.keyboard.press("Escape");
        await at.open("profile/connections");
        await page.getByRole("heading", { name: "Connections", level: 1 }).waitFor();
        await page.getByRole("button", { name: /^End / }).first().waitFor();
        expect(await at.look(`connections-${view}`)).toEqual([]);
      }));

    test("the pages of a person without a key", () =>
      visit(options, async (at) => {
        const { page } = at;
        await at.open("");
        await at.signIn(keyless);
        await page.getByText("You have no API key").waitFor();
        await page.getByText(/with every turn/).waitFor();
        expect(await at.look(`endpoint-without-key-${view}`)).toEqual([]);
        await page.getByRole("link", { name: "Go to API Keys" }).click();
        await page.getByRole("button", { name: "Create your first key" }).waitFor();
        expect(await at.look(`keys-none-${view}`)).toEqual([]);
        await at.open("profile/connections");
        await page.getByText("Nothing may call in your name").waitFor();
        expect(await at.look(`connections-none-${view}`)).toEqual([]);
      }));

    test("an administrator's settings", () =>
      visit(options, async (at) => {
        const { page } = at;
        await at.open("settings/endpoint");
        await at.signIn(admin);
        await page.getByText("Platform Tools MCP Server").waitFor();
        await page.getByRole("heading", { name: "Registration tokens" }).waitFor();
        expect(await at.look(`settings-endpoint-${view}`)).toEqual([]);
        await page.getByRole("button", { name: "New token" }).click();
        await page.getByRole("heading", { name: "New registration token" }).waitFor();
        expect(await at.look(`new-registration-token-${view}`)).toEqual([]);
        await at.open("settings/people");
        await page.getByRole("rowheader", { name: "Analyst" }).waitFor();
        expect(await at.look(`people-${view}`)).toEqual([]);
        await page.getByRole("button", { name: "Change Analyst" }).click();
        await page.getByRole("heading", { name: "Change Analyst" }).waitFor();
        expect(await at.look(`change-person-${view}`)).toEqual([]);
        await at.open("settings/groups");
        await page.getByRole("heading", { name: "Groups", level: 1 }).waitFor();
        await page
          .getByText(/There is no group|Created/)
          .first()
          .waitFor();
        expect(await at.look(`groups-${view}`)).toEqual([]);
        await at.open("settings/audit?kind=sign_in");
        await page.getByRole("rowheader").first().waitFor();
        expect(await at.look(`audit-${view}`)).toEqual([]);
        await at.open("nowhere");
        await page.getByText("There is nothing at this address").waitFor();
        expect(await at.look(`nowhere-${view}`)).toEqual([]);
      }));
  });
});
