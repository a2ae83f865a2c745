import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// Every screen and dialog of the console, in both themes and on a narrow one, as each of three persons.

const skipped = noChromium ?? notLong;

describe.skipIf(skipped !== undefined)(titled("the console's screens", skipped), () => {
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

  async function visit(work: (at: AtConsole) => Promise<void>): Promise<void> {
    const at = await atConsole(chromium, program);
    try {
      await work(at);
    } finally {
      await at.close();
    }
  }

  /** Opens a dialog by its button, looks at it, and leaves it by Escape. */
  async function dialog(at: AtConsole, button: string, heading: string, name: string): Promise<void> {
    await at.page.getByRole("button", { name: button, exact: true }).first().click();
    await at.page.getByRole("heading", { name: heading }).waitFor();
    expect(await at.lookEverywhere(name)).toEqual([]);
    await at.page.keyboard.press("Escape");
    await at.page.getByRole("heading", { name: heading }).waitFor({ state: "detached" });
  }

  test("sign-in: as it opens, and after a wrong password", () =>
    visit(async (at) => {
      await at.open("");
      await at.page.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
      expect(await at.lookEverywhere("sign-in")).toEqual([]);
      await at.signIn({ email: analyst.email, password: "not the password" });
      await at.page.getByText("The e-mail address or the password is wrong.").waitFor();
      expect(await at.lookEverywhere("sign-in-wrong")).toEqual([]);
    }));

  test("an analyst's pages", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("");
      await at.signIn(analyst);
      await page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
      await page
        .getByText(/tools? for you/)
        .nth(2)
        .waitFor();
      await page.getByText(/with every turn/).waitFor();
      expect(await at.lookEverywhere("endpoint-analyst")).toEqual([]);
      await at.open("profile/keys");
      await page.getByText(/active key/).waitFor();
      expect(await at.lookEverywhere("keys")).toEqual([]);
      await at.open("profile/connections");
      await page.getByRole("button", { name: /^End / }).first().waitFor();
      expect(await at.lookEverywhere("connections")).toEqual([]);
      await at.open("nowhere");
      await page.getByText("There is nothing at this address").waitFor();
      expect(await at.lookEverywhere("nowhere-analyst")).toEqual([]);
      await at.open("settings/people");
      await page.getByText("You may not see this").waitFor();
      expect(await at.lookEverywhere("no-permission")).toEqual([]);
    }));

  test("an analyst's dialogs: new key, key shown once, revoke, end, sign out everywhere", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("profile/keys");
      await at.signIn(analyst);
      await dialog(at, "New key", "New API key", "new-key");
      await page.getByRole("button", { name: "New key" }).click();
      await typeIn(page, "Claude Code on my laptop");
      await page.keyboard.press("Enter");
      await page.getByText("Copy your key now").waitFor();
      expect(await at.lookEverywhere("key-shown-once")).toEqual([]);
      await page.getByRole("button", { name: "I have saved it" }).click();
      await dialog(at, "Revoke Claude Code on my laptop", "Revoke “Claude Code on my laptop”?", "revoke-key");
      await page.getByRole("link", { name: "Connections" }).click();
      await dialog(at, "End Claude Code on my laptop", "End “Claude Code on my laptop”?", "end-connection");
      await dialog(at, "Sign out everywhere", "Sign out everywhere?", "sign-out-everywhere");
    }));

  test("an analyst's dialogs: Ctrl K, and the sign-in after the session has ended", () =>
    visit(async (at) => {
      const { page, context } = at;
      await at.open("profile/connections");
      await at.signIn(analyst);
      await page.getByRole("button", { name: /^End / }).first().waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("menuitem", { name: /API Keys/ }).waitFor();
      expect(await at.lookEverywhere("ctrl-k")).toEqual([]);
      await typeIn(page, "no such page");
      await page.getByText("No page of yours has this name.").waitFor();
      expect(await at.lookEverywhere("ctrl-k-none")).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await page.getByRole("searchbox").waitFor({ state: "detached" });
      await context.clearCookies({ name: "sallyport" });
      await page.getByRole("link", { name: "API Keys" }).click();
      await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
      expect(await at.lookEverywhere("session-ended")).toEqual([]);
    }));

  test("the pages of a person without a key", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("");
      await at.signIn(keyless);
      await page.getByText("You have no API key").waitFor();
      await page.getByText(/with every turn/).waitFor();
      expect(await at.lookEverywhere("endpoint-without-key")).toEqual([]);
      await page.getByRole("link", { name: "Go to API Keys" }).click();
      await page.getByRole("button", { name: "Create your first key" }).waitFor();
      expect(await at.lookEverywhere("keys-none")).toEqual([]);
      await at.open("profile/connections");
      await page.getByText("Nothing may call in your name").waitFor();
      expect(await at.lookEverywhere("connections-none")).toEqual([]);
      await at.open("settings/audit");
      await page.getByText("You may not see this").waitFor();
      await at.open("nowhere");
      await page.getByText("There is nothing at this address").waitFor();
    }));

  test("an administrator's pages", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("");
      await at.signIn(admin);
      await page.getByText(/with every turn/).waitFor();
      expect(await at.lookEverywhere("endpoint-administrator")).toEqual([]);
      await at.open("profile/keys");
      await page.getByText(/active key/).waitFor();
      expect(await at.lookEverywhere("keys-administrator")).toEqual([]);
      await at.open("profile/connections");
      await page.getByText("Everybody's", { exact: true }).click();
      await page.getByRole("columnheader", { name: "Person" }).waitFor();
      expect(await at.lookEverywhere("connections-everybody")).toEqual([]);
    }));

  test("an administrator's settings", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("settings/endpoint");
      await at.signIn(admin);
      await page.getByText("Platform Tools MCP Server").waitFor();
      await page.getByRole("heading", { name: "Registration tokens" }).waitFor();
      expect(await at.lookEverywhere("settings-endpoint")).toEqual([]);
      await dialog(at, "New token", "New registration token", "new-registration-token");
      await page.getByRole("switch", { name: "Platform MCP Servers" }).focus();
      await page.keyboard.press("Space");
      await page.getByRole("alertdialog").waitFor();
      expect(await at.lookEverywhere("switch-off")).toEqual([]);
      await page.keyboard.press("Escape");
      await at.open("settings/audit?kind=sign_in");
      await page.getByRole("rowheader").first().waitFor();
      expect(await at.lookEverywhere("audit")).toEqual([]);
      await at.open("settings/audit?kind=read&period=day");
      await page.getByText("Nothing is recorded").waitFor();
      expect(await at.lookEverywhere("audit-none")).toEqual([]);
      await at.open("nowhere");
      await page.getByText("There is nothing at this address").waitFor();
      expect(await at.lookEverywhere("nowhere")).toEqual([]);
    }));

  test("an administrator's people: new, change, delete", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("settings/people");
      await at.signIn(admin);
      await page.getByRole("rowheader", { name: "Analyst" }).waitFor();
      expect(await at.lookEverywhere("people")).toEqual([]);
      await dialog(at, "New person", "New person", "new-person");
      await dialog(at, "Change Analyst", "Change Analyst", "change-person");
      await dialog(at, "Delete Analyst", "Delete Analyst?", "delete-person");
    }));

  test("an administrator's groups: none, new, rename, delete", () =>
    visit(async (at) => {
      const { page } = at;
      await withoutGroups();
      await at.open("settings/groups");
      await at.signIn(admin);
      await page.getByText("There is no group").waitFor();
      expect(await at.lookEverywhere("groups-none")).toEqual([]);
      await dialog(at, "New group", "New group", "new-group");
      await page.getByRole("button", { name: "New group" }).click();
      await typeIn(page, "Night shift");
      await page.keyboard.press("Enter");
      await page.getByRole("rowheader", { name: "Night shift" }).waitFor();
      expect(await at.lookEverywhere("groups")).toEqual([]);
      await dialog(at, "Rename Night shift", "Rename Night shift", "rename-group");
      await dialog(at, "Delete Night shift", "Delete “Night shift”?", "delete-group");
    }));

  test("an administrator's registration token: shown once, revoke", () =>
    visit(async (at) => {
      const { page } = at;
      await at.open("settings/endpoint");
      await at.signIn(admin);
      await page.getByRole("button", { name: "New token" }).click();
      await typeIn(page, "OpenCTI in Paris");
      await page.getByRole("button", { name: "Create token" }).click();
      await page.getByRole("heading", { name: "Copy the token now" }).waitFor();
      expect(await at.lookEverywhere("token-shown-once")).toEqual([]);
      await page.getByRole("button", { name: "I have saved it" }).click();
      await dialog(at, "Revoke OpenCTI in Paris", "Revoke “OpenCTI in Paris”?", "revoke-token");
    }));

  test("a person whose password somebody else set chooses another one first", () =>
    visit(async (at) => {
      const { page } = at;
      const person = { email: "set@sallyport.example", password: "the first of many words" };
      await newPersonToChange(person);
      await at.open("profile/keys");
      await at.signIn(person);
      await page.getByRole("heading", { name: "Choose a new password" }).waitFor();
      expect(await at.lookEverywhere("new-password")).toEqual([]);
      await page.getByLabel("Password until now").fill("not the first");
      await page.getByLabel("New password").fill("the second of many words");
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByText("The current password is wrong.").waitFor();
      expect(await at.lookEverywhere("new-password-wrong")).toEqual([]);
      await page.getByLabel("Password until now").fill(person.password);
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
    }));

  async function asAdmin(method: string, body: object): Promise<Record<string, { readonly id: string }[]>> {
    const answer = await fetch(`${program.baseUrl}/rpc/auth.v1.${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${program.bootstrap.admin.api_key}` },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, { readonly id: string }[]>;
  }

  async function newPersonToChange({ email, password }: PersonAtConsole): Promise<void> {
    await asAdmin("UserService/CreateUser", { email, name: "Set", password });
  }

  async function withoutGroups(): Promise<void> {
    const { groups = [] } = await asAdmin("GroupService/ListGroups", {});
    for (const { id } of groups) await asAdmin("GroupService/DeleteGroup", { id });
  }
});
