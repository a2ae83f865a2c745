import type { Browser, Page, Route } from "playwright-core";
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

// What each page shows while it waits, if there is too much for one page, if its list cannot be read, if the session
// ends, if the answer of a write is lost. The network between browser and service is what fails; the service is real.

/** A page with a list: where it is, what it reads, and how it names that. */
interface Screen {
  readonly path: string;
  readonly reads: string;
  readonly loading: string;
  readonly failed: string;
  /** What is there once the list has come. */
  readonly shows: (page: Page) => Promise<unknown>;
}

const row = (page: Page): Promise<unknown> => page.getByRole("rowheader").first().waitFor();
const MINE: readonly Screen[] = [
  {
    ...{ path: "profile/endpoint", reads: "EndpointService/DescribeEndpoints" },
    ...{ loading: "Loading an endpoint", failed: "The endpoints could not be loaded" },
    shows: (page) =>
      page
        .getByText(/tools? for you/)
        .first()
        .waitFor(),
  },
  {
    ...{ path: "profile/keys", reads: "ApiKeyService/ListApiKeys" },
    ...{ loading: "Loading your keys", failed: "Your keys could not be loaded" },
    shows: (page) =>
      page
        .getByText(/active key|You have no API key/)
        .first()
        .waitFor(),
  },
  {
    ...{ path: "profile/connections", reads: "ConnectionService/ListConnections" },
    ...{ loading: "Loading the connections", failed: "The connections could not be loaded" },
    shows: (page) =>
      page
        .getByText(/Last used|Nothing may call/)
        .first()
        .waitFor(),
  },
  {
    ...{ path: "agents/runs", reads: "RunService/ListRuns" },
    ...{ loading: "Loading your runs", failed: "Your runs could not be loaded" },
    shows: (page) => page.getByText("No runs", { exact: true }).waitFor(),
  },
];
const SETTINGS: readonly Screen[] = [
  {
    ...{ path: "settings/endpoint", reads: "SettingService/GetSettings" },
    ...{ loading: "Loading the switches", failed: "The switches could not be loaded" },
    shows: (page) => page.getByText("Platform Tools MCP Server").waitFor(),
  },
  {
    ...{ path: "settings/people", reads: "UserService/ListUsers" },
    ...{ loading: "Loading the people", failed: "The people could not be loaded", shows: row },
  },
  {
    ...{ path: "settings/groups", reads: "GroupService/ListGroups" },
    ...{ loading: "Loading the groups", failed: "The groups could not be loaded", shows: row },
  },
  {
    ...{ path: "settings/audit", reads: "AuditService/ListAuditRecords" },
    ...{ loading: "Loading the audit", failed: "The audit could not be loaded", shows: row },
  },
];

const skipped = noChromium ?? notLong;

describe.skipIf(skipped !== undefined)(titled("the states of the console's pages", skipped), () => {
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
    await asAdmin("auth.v1.GroupService/CreateGroup", { name: "Night shift" });
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
  });

  async function asAdmin(method: string, body: object): Promise<void> {
    const answer = await fetch(`${program.baseUrl}/rpc/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${program.bootstrap.admin.api_key}` },
      body: JSON.stringify(body),
    });
    expect(answer.status, await answer.text()).toBe(200);
  }

  /** Signs somebody in, and does the same on each page. */
  async function onEach(
    person: PersonAtConsole,
    screens: readonly Screen[],
    work: (screen: Screen, page: Page, at: AtConsole) => Promise<void>,
  ): Promise<void> {
    const at = await atConsole(chromium, program);
    try {
      await at.open("profile/keys");
      await at.signIn(person);
      await at.page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
      for (const screen of screens) await work(screen, at.page, at);
    } finally {
      await at.close();
    }
  }

  /** Has a page wait for its list until the test lets it through. */
  async function loading({ path, reads, loading: label, shows }: Screen, page: Page, at: AtConsole): Promise<void> {
    let through = (): void => undefined;
    const held = new Promise<void>((done) => {
      through = done;
    });
    const hold = async (route: Route): Promise<void> => {
      await held;
      await route.continue();
    };
    await page.route(`**/rpc/*${reads}`, hold);
    await at.open(path);
    await page.getByLabel(label).first().waitFor();
    expect(await at.lookEverywhere(`loading/${path.replace("/", "-")}`)).toEqual([]);
    through();
    await shows(page);
    await page.unroute(`**/rpc/*${reads}`, hold);
  }

  /** Refuses a page its list, as a service with too many calls does; then the person tries again. */
  async function failing({ path, reads, failed, shows }: Screen, page: Page, at: AtConsole): Promise<void> {
    const refuse = (route: Route): Promise<void> =>
      route.fulfill({
        status: 429,
        contentType: "application/json",
        body: JSON.stringify({ code: "resource_exhausted", message: "too many calls: try again in 2 seconds" }),
      });
    await page.route(`**/rpc/*${reads}`, refuse);
    await at.open(path);
    const notice = page.getByRole("alert").filter({ hasText: failed });
    await notice.getByText("Too many calls: try again in 2 seconds.").waitFor();
    expect(await at.lookEverywhere(`failed/${path.replace("/", "-")}`)).toEqual([]);
    await page.unroute(`**/rpc/*${reads}`, refuse);
    await notice.getByRole("button", { name: "Try again" }).click();
    await shows(page);
  }

  /** The service goes away under a page, and comes back: the list is there without a click. */
  async function away({ path, reads, shows }: Screen, page: Page, at: AtConsole): Promise<void> {
    await page.route("**/rpc/**", (route) => route.abort("connectionrefused"));
    await page.route("**/console/config.json", (route) => route.abort("connectionrefused"));
    await at.open(path);
    await page.getByText("The service does not answer", { exact: true }).first().waitFor();
    await page.unroute("**/rpc/**");
    await page.unroute("**/console/config.json");
    await shows(page);
    await page.getByText("The service does not answer", { exact: true }).waitFor({ state: "detached" });
    expect(reads).not.toBe("");
  }

  /** The session ends before the page reads; after signing in again, the page has its list. */
  function ending(person: PersonAtConsole) {
    return async ({ path, shows }: Screen, page: Page, at: AtConsole): Promise<void> => {
      await at.open(path);
      await shows(page);
      await at.context.clearCookies({ name: "sallyport" });
      // Looking at another page and back reads again, once what is shown is not fresh any more.
      const elsewhere = path === "profile/keys" ? "Connections" : "API Keys";
      const ended = page.getByRole("heading", { name: "Your session has ended" });
      for (let n = 0; n < 20 && !(await ended.isVisible()); n++) {
        await page.getByRole("navigation").getByRole("link", { name: elsewhere }).click();
        await page.goBack();
        await ended.waitFor({ timeout: 1_000 }).catch(() => undefined);
      }
      await page.getByLabel("Password").fill(person.password);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await ended.waitFor({ state: "detached" });
      await shows(page);
    };
  }

  test("an analyst's pages while they wait", () => onEach(analyst, MINE, loading));
  test("an administrator's pages while they wait", () => onEach(admin, SETTINGS, loading));
  test("the pages of a person without a key while they wait", () => onEach(keyless, MINE, loading));

  test("an analyst's pages that cannot be read say why, and try again", () => onEach(analyst, MINE, failing));
  test("an administrator's pages that cannot be read say why, and try again", () => onEach(admin, SETTINGS, failing));
  test("the pages of a person without a key that cannot be read say why, and try again", () =>
    onEach(keyless, MINE, failing));

  test("an analyst's pages while the service is away, and after it", () => onEach(analyst, MINE, away));
  test("an administrator's pages while the service is away, and after it", () => onEach(admin, SETTINGS, away));
  test("the pages of a person without a key while the service is away, and after it", () =>
    onEach(keyless, MINE, away));

  test("the sign-in while the service is away, and after it", async () => {
    const at = await atConsole(chromium, program);
    await at.page.route("**/console/session*", (route) => route.abort("connectionrefused"));
    await at.open("profile/keys");
    await at.page.getByRole("heading", { name: "The service does not answer" }).waitFor();
    expect(await at.lookEverywhere("away")).toEqual([]);
    await at.page.unroute("**/console/session*");
    await at.page.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
    await at.page.route("**/console/session*", (route) => route.abort("connectionrefused"));
    await at.signIn(analyst);
    await at.page.getByText("The service does not answer: try again.").waitFor();
    await at.page.unroute("**/console/session*");
    await at.page.getByRole("button", { name: "Sign in", exact: true }).click();
    await at.page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
    await at.close();
  });

  test("an analyst's session ends on each page, and the page is there after signing in", () =>
    onEach(analyst, MINE, ending(analyst)));
  test("an administrator's session ends on each page, and the page is there after signing in", () =>
    onEach(admin, SETTINGS, ending(admin)));
  test("the session of a person without a key ends on each page, and the page is there after signing in", () =>
    onEach(keyless, MINE, ending(keyless)));

  test("the pages of Settings tell others to ask an administrator, without a control, without a call", async () => {
    for (const person of [analyst, keyless]) {
      const at = await atConsole(chromium, program);
      const { page } = at;
      const calls: string[] = [];
      page.on("request", (request) => request.url().includes("/rpc/") && calls.push(request.url()));
      await at.open("settings/endpoint");
      await at.signIn(person);
      await page.getByText("You may not see this").waitFor();
      for (const { path, reads } of SETTINGS) {
        await at.open(path);
        await page.getByText("You may not see this").waitFor();
        await page.getByText("Ask an administrator.").waitFor();
        expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
        expect(calls.filter((url) => url.endsWith(reads))).toEqual([]);
      }
      await at.close();
    }
  });

  test("who stops being an administrator sees it at the next click", async () => {
    const email = "demoted@sallyport.example";
    const person = await newPerson(program, email);
    const listed = (await (
      await fetch(`${program.baseUrl}/rpc/auth.v1.UserService/ListUsers`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${program.bootstrap.admin.api_key}` },
        body: JSON.stringify({ pageSize: 100 }),
      })
    ).json()) as { users: { id: string; email: string }[] };
    const { id } = listed.users.find((one) => one.email === email) as { id: string };
    await asAdmin("auth.v1.UserService/UpdateUser", { id, admin: true });
    const at = await atConsole(chromium, program);
    await at.open("settings/groups");
    await at.signIn(person);
    await row(at.page);
    await asAdmin("auth.v1.UserService/UpdateUser", { id, admin: false });
    await at.page.getByRole("button", { name: "New group" }).click();
    await typeIn(at.page, "Mine");
    await at.page.keyboard.press("Enter");
    await at.page.getByText("You may not see this").waitFor();
    expect(await at.page.getByRole("region", { name: "Settings" }).count()).toBe(0);
    await at.close();
  });

  test("a write whose answer is lost says that nobody knows, in every form and question", async () => {
    const at = await atConsole(chromium, program);
    const { page } = at;
    const lost = page.getByText(/whether it was done is not known/);
    async function losing(method: string, open: () => Promise<void>, press: string): Promise<void> {
      await page.route(`**/rpc/*${method}`, (route) => route.abort("connectionreset"));
      await open();
      await page.getByRole("button", { name: press, exact: true }).last().click();
      await lost.waitFor();
      expect(await at.look(`lost ${method}`)).toEqual([]);
      await page.unroute(`**/rpc/*${method}`);
      await page.keyboard.press("Escape");
      await page.getByRole("alertdialog").or(page.getByRole("dialog")).waitFor({ state: "detached" });
    }
    const press = (name: string | RegExp) => page.getByRole("button", { name }).first().click();
    await at.open("profile/keys");
    await at.signIn(admin);
    await losing(
      "ApiKeyService/CreateApiKey",
      async () => {
        await press("New key");
        await typeIn(page, "Lost");
      },
      "Create key",
    );
    await losing("ApiKeyService/RevokeApiKey", () => press(/^Revoke /), "Revoke key");
    await at.open("profile/connections");
    await losing("ConnectionService/EndConnection", () => press(/^End /), "End connection");
    await losing("SessionService/SignOutEverywhere", () => press("Sign out everywhere"), "Sign out everywhere");
    await at.open("profile/endpoint");
    await page.getByText(/with every turn/).waitFor();
    await page.route("**/rpc/*PackageService/BuildPackage", (route) => route.abort("connectionreset"));
    await press("Download for Claude Code");
    await page.getByRole("dialog").getByRole("button", { name: "Download", exact: true }).click();
    await lost.first().waitFor();
    await at.open("settings/people");
    await losing("UserService/UpdateUser", () => press("Change Analyst"), "Save");
    await losing("UserService/DeleteUser", () => press("Delete Analyst"), "Delete person");
    await losing(
      "UserService/CreateUser",
      async () => {
        await press("New person");
        await page.getByLabel("Name").fill("Lost");
        await page.getByLabel("E-mail address").fill("lost@sallyport.example");
      },
      "Create person",
    );
    await at.open("settings/groups");
    await losing("GroupService/UpdateGroup", () => press("Rename Night shift"), "Rename");
    await losing("GroupService/DeleteGroup", () => press("Delete Night shift"), "Delete group");
    await losing(
      "GroupService/CreateGroup",
      async () => {
        await press("New group");
        await typeIn(page, "Lost");
      },
      "Create group",
    );
    await at.open("settings/endpoint");
    await losing(
      "SettingService/CreateRegistrationToken",
      async () => {
        await press("New token");
        await typeIn(page, "Lost");
      },
      "Create token",
    );
    await page.route("**/rpc/*SettingService/UpdateSettings", (route) => route.abort("connectionreset"));
    await page.getByRole("switch", { name: "Platform MCP Servers" }).focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Switch off" }).click();
    await lost.waitFor();
    await at.close();
  });

  test("a write whose answer is lost says so to an analyst and to a person without a key", async () => {
    for (const person of [analyst, keyless]) {
      const at = await atConsole(chromium, program);
      const { page } = at;
      await page.route("**/rpc/*ApiKeyService/CreateApiKey", (route) => route.abort("connectionreset"));
      await at.open("profile/keys");
      await at.signIn(person);
      await page.getByRole("button", { name: "New key" }).click();
      await typeIn(page, "Lost");
      await page.keyboard.press("Enter");
      await page.getByText(/whether it was done is not known/).waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("Lost");
      await at.close();
    }
  });

  test("lists that are longer than a page: keys, connections, people, groups, audit", async () => {
    for (let n = 0; n < 30; n++) {
      await asAdmin("auth.v1.ApiKeyService/CreateApiKey", { name: `Client ${n}`, userEmail: analyst.email });
      await asAdmin("auth.v1.UserService/CreateUser", { name: `Person ${n}`, email: `p${n}@sallyport.example` });
      await asAdmin("auth.v1.GroupService/CreateGroup", { name: `Group ${n} with a name that is longer than most` });
    }
    async function pages(page: Page, at: AtConsole, path: string): Promise<void> {
      await at.open(path);
      await row(page);
      const top = (): Promise<string> => page.getByRole("row").nth(1).innerText();
      const first = await top();
      expect(await at.lookEverywhere(`full/${path.replace("/", "-")}`)).toEqual([]);
      expect(await page.getByRole("button", { name: "Previous" }).isDisabled()).toBe(true);
      await page.getByRole("button", { name: "Next" }).click();
      await expect.poll(top).not.toBe(first);
      await page.getByRole("button", { name: "Previous" }).click();
      await expect.poll(top).toBe(first);
    }
    const full = (path: string): Screen => ({ ...(MINE[0] as Screen), path });
    const each = ({ path }: Screen, page: Page, at: AtConsole): Promise<void> => pages(page, at, path);
    await onEach(analyst, ["profile/keys", "profile/connections"].map(full), each);
    await onEach(admin, ["settings/people", "settings/groups", "settings/audit"].map(full), each);
  });
});
