import type { DescService } from "@bufbuild/protobuf";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { type User, UserService } from "#proto/auth/v1/user_service_pb.js";
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
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// What people do in the console, and what the service does then.

describe.skipIf(noChromium !== undefined)(titled("people at the console", noChromium), () => {
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
    const { users } = await client(UserService).listUsers({ pageSize: 100 });
    const { id } = users.find(({ email }) => email === keyless.email) as User;
    await client(UserService).updateUser({ id, name: "Keyless" });
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
  });

  async function as(person: PersonAtConsole, path: string, work: (page: Page, at: AtConsole) => Promise<void>) {
    const at = await atConsole(chromium, program);
    try {
      await at.open(path);
      await at.signIn(person);
      await work(at.page, at);
      expect(await at.look("end of work")).toEqual([]);
    } finally {
      await at.close();
    }
  }

  /** A call by hand, as a page of ours would send it. */
  function byHand(page: Page, method: string, body: object): Promise<number> {
    return page.evaluate(
      async ([url, text]) =>
        (
          await fetch(url as string, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: text as string,
          })
        ).status,
      [`/rpc/${method}`, JSON.stringify(body)],
    );
  }

  /** Another administrator, elsewhere. */
  const client = <S extends DescService>(service: S) =>
    connectClient(service, {
      baseUrl: `${program.baseUrl}/rpc`,
      apiKey: program.bootstrap.admin.api_key,
      httpVersion: "1.1",
    });
  const clipboard = (page: Page): Promise<string> => page.evaluate("navigator.clipboard.readText()") as Promise<string>;
  const whoami = (key: string): Promise<number> =>
    post(`${program.baseUrl}/mcp/cti`, key, "tools/call", { name: "whoami" }).then(({ status }) => status);
  /** By keyboard: what is drawn over the switch takes the clicks. */
  async function turn(page: Page, name: string): Promise<void> {
    await page.getByRole("switch", { name }).focus();
    await page.keyboard.press("Space");
  }

  test("a key is made, copied, shown once, used, and revoked", () =>
    as(analyst, "profile/keys", async (page) => {
      await page.getByRole("button", { name: "New key" }).click();
      await typeIn(page, "Laptop");
      await page.keyboard.press("Enter");
      await page.getByText("Copy your key now").waitFor();
      await page.getByRole("button", { name: "Copy API key" }).click();
      const key = await clipboard(page);
      await page.keyboard.press("Escape");
      expect(await page.getByText("Copy your key now").isVisible()).toBe(true);
      await page.getByRole("button", { name: "I have saved it" }).click();
      await page.getByRole("rowheader", { name: "Laptop" }).waitFor();
      expect(await page.content()).not.toContain(key);
      expect(await whoami(key)).toBe(200);
      await page.getByRole("button", { name: "Revoke Laptop" }).click();
      await page.getByRole("button", { name: "Revoke key" }).click();
      await page.getByText("is revoked").waitFor();
      expect(await whoami(key)).toBe(401);
    }));

  describe.skipIf(notLong !== undefined)(titled("at length", notLong), () => {
    test("a key for one server that may only read", () =>
      as(analyst, "profile/keys", async (page) => {
        await page.getByRole("button", { name: "New key" }).click();
        await typeIn(page, "Reader");
        await page.getByText("grc", { exact: true }).click();
        await page.getByText("It may only read").click();
        await page.getByRole("button", { name: "Create key" }).click();
        await page.getByRole("button", { name: "Copy API key" }).click();
        const tools = (server: string): Promise<readonly string[]> =>
          toolNames(`${program.baseUrl}/mcp/${server}`, key);
        const key = await clipboard(page);
        expect(await tools("cti")).toEqual([]);
        expect((await tools("grc")).length).toBeGreaterThan(10);
        await page.getByRole("button", { name: "I have saved it" }).click();
        await page.getByText("grc · read only").waitFor();
      }));

    test("the fragment of a client, narrowed, with what the list costs", () =>
      as(analyst, "profile/endpoint", async (page) => {
        await page.getByRole("button", { name: /Client/ }).click();
        await page.getByRole("option", { name: "Codex" }).click();
        await page.getByText(/toolsets=basic/).waitFor();
        const fragment = page.getByRole("region", { name: "Codex fragment" });
        const before = await page.getByText(/with every turn/).textContent();
        await page.getByText("Only tools that read").click();
        await page.getByText(/readonly=1/).waitFor();
        expect(await fragment.textContent()).toContain('bearer_token_env_var = "SERVICE_API_KEY"');
        await expect.poll(() => page.getByText(/with every turn/).textContent()).not.toBe(before);
      }));

    test("a session that ends in the middle of a form loses nothing of it", () =>
      as(analyst, "profile/keys", async (page, { context }) => {
        await page.getByRole("button", { name: "New key" }).click();
        await typeIn(page, "A name that took long to think of");
        await context.clearCookies({ name: "sallyport" });
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
        await page.getByLabel("Password").fill(analyst.password);
        await page.getByRole("button", { name: "Sign in", exact: true }).click();
        await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("A name that took long to think of");
        await page.getByRole("button", { name: "Create key" }).click();
        await page.getByText("Copy your key now").waitFor();
        await page.getByRole("button", { name: "I have saved it" }).click();
      }));

    test("a deep link leads there after signing in, and Ctrl K to every page", () =>
      as(analyst, "profile/connections", async (page) => {
        await page.getByRole("heading", { name: "Connections", level: 1 }).waitFor();
        await page.keyboard.press("Control+k");
        await typeIn(page, "keys");
        await page.keyboard.press("ArrowDown");
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
        expect(new URL(page.url()).pathname).toBe("/console/profile/keys");
      }));

    test("Ctrl K opens every page of an administrator, and those of others alone to others", async () => {
      const mine = ["My Profile MCP Endpoint", "My Profile API Keys", "My Profile Connections", "Agents Runs"];
      const settings = ["Settings MCP Endpoint", "Settings People", "Settings Groups", "Settings Audit"];
      for (const [person, names] of [
        [admin, [...mine, ...settings]],
        [analyst, mine],
        [keyless, mine],
      ] as const) {
        await as(person, "profile/endpoint", async (page) => {
          await page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
          if (person === admin) await page.getByRole("link", { name: "People" }).waitFor();
          for (const name of names) {
            await page.keyboard.press("Control+k");
            await page.getByRole("searchbox").waitFor();
            expect(await page.getByRole("menuitem").count()).toBe(names.length);
            await typeIn(page, name);
            await expect.poll(() => page.getByRole("menuitem").count()).toBe(1);
            await page.keyboard.press("ArrowDown");
            await page.keyboard.press("Enter");
            const [, group, label] = /^(My Profile|Agents|Settings) (.*)$/.exec(name) as unknown as [
              string,
              string,
              string,
            ];
            await page.getByRole("heading", { name: label, level: 1, exact: true }).waitFor();
            await expect.poll(() => page.title()).toBe(`${label} · Sallyport`);
            const path = `/console/${group === "My Profile" ? "profile" : group.toLowerCase()}/`;
            await expect.poll(() => new URL(page.url()).pathname).toContain(path);
          }
          await page.keyboard.press("Control+k");
          await typeIn(page, "Settings");
          const offered = names.filter((name) => name.startsWith("Settings")).length;
          await expect.poll(() => page.getByRole("menuitem").filter({ hasText: "Settings" }).count()).toBe(offered);
          await page.keyboard.press("Escape");
          await page.keyboard.press("Escape");
        });
      }
    });

    test("Ctrl K does not open over a key that is shown once", () =>
      as(analyst, "profile/keys", async (page) => {
        await page.getByRole("button", { name: "New key" }).click();
        await typeIn(page, "Once");
        await page.keyboard.press("Enter");
        await page.getByText("Copy your key now").waitFor();
        await page.keyboard.press("Control+k");
        expect(await page.getByRole("searchbox").count()).toBe(0);
        await page.getByRole("button", { name: "I have saved it" }).click();
      }));

    test("a session that ends in a person's form, a group's and a token's loses nothing of it", () =>
      as(admin, "settings/people", async (page, { context, open }) => {
        async function losing(button: string, submit: string): Promise<void> {
          await page.getByRole("button", { name: button, exact: true }).first().click();
          const name = page.getByRole("dialog").getByLabel("Name");
          await name.fill("Written before it ended");
          await context.clearCookies({ name: "sallyport" });
          await page.getByRole("button", { name: submit, exact: true }).click();
          const again = page.getByRole("dialog").filter({ hasText: "Your session has ended" });
          await again.getByLabel("Password").fill(admin.password);
          await again.getByRole("button", { name: "Sign in", exact: true }).click();
          await again.waitFor({ state: "detached" });
          expect(await name.inputValue()).toBe("Written before it ended");
          await page.getByRole("button", { name: submit, exact: true }).click();
          await page.getByRole("dialog").filter({ hasText: submit }).waitFor({ state: "detached" });
        }
        await losing("Change Analyst", "Save");
        await page.getByRole("rowheader", { name: "Written before it ended" }).waitFor();
        await page.getByRole("button", { name: "Change Written before it ended" }).click();
        await page.getByRole("dialog").getByLabel("Name").fill("Analyst");
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByRole("rowheader", { name: "Analyst" }).waitFor();
        await open("settings/groups");
        await losing("New group", "Create group");
        await page.getByRole("button", { name: "Delete Written before it ended" }).click();
        await page.getByRole("button", { name: "Delete group" }).click();
        await page.getByRole("rowheader", { name: "Written before it ended" }).waitFor({ state: "detached" });
        await open("settings/endpoint");
        await losing("New token", "Create token");
        await page.getByRole("button", { name: "I have saved it" }).click();
      }));

    test("a session that ends at a switch turns nothing, and the switch turns after signing in", () =>
      as(admin, "settings/endpoint", async (page, { context }) => {
        const core = page.getByRole("switch", { name: "Platform Tools MCP Server" });
        await core.waitFor();
        await context.clearCookies({ name: "sallyport" });
        await turn(page, "Platform Tools MCP Server");
        await page.getByRole("button", { name: "Switch off" }).click();
        const again = page.getByRole("dialog").filter({ hasText: "Your session has ended" });
        await again.getByLabel("Password").fill(admin.password);
        await again.getByRole("button", { name: "Sign in", exact: true }).click();
        await again.waitFor({ state: "detached" });
        expect(await core.isChecked()).toBe(true);
        await turn(page, "Platform Tools MCP Server");
        await page.getByRole("button", { name: "Switch off" }).click();
        await expect.poll(() => core.isChecked()).toBe(false);
        await turn(page, "Platform Tools MCP Server");
        await expect.poll(() => core.isChecked()).toBe(true);
      }));

    test("what an analyst may not do has no control, and the same call made by hand is refused", () =>
      as(analyst, "profile/endpoint", async (page) => {
        await page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
        expect(await page.getByRole("region", { name: "Settings" }).count()).toBe(0);
        expect(await byHand(page, "catalogue.v1.SettingService/UpdateSettings", { core: true })).toBe(403);
        expect(await byHand(page, "catalogue.v1.SettingService/ListRegistrationTokens", {})).toBe(403);
        expect(await byHand(page, "auth.v1.UserService/ListUsers", {})).toBe(403);
        expect(await byHand(page, "auth.v1.GroupService/CreateGroup", { name: "mine" })).toBe(403);
        expect(await byHand(page, "auth.v1.AuditService/ListAuditRecords", {})).toBe(403);
        expect(await byHand(page, "auth.v1.ConnectionService/ListConnections", { everybody: true })).toBe(403);
        expect(await byHand(page, "catalogue.v1.EndpointService/DescribeEndpoints", {})).toBe(200);
      }));

    test("two people change one switch: the second save is refused with the reason, and saves nothing", () =>
      as(admin, "settings/endpoint", async (page) => {
        await page.getByText("Platform Tools MCP Server").waitFor();
        const other = client(SettingService);
        const { settings: before } = await other.getSettings({});
        const { settings } = await other.updateSettings({ core: before?.core !== true });
        await turn(page, "AI");
        await page.getByRole("button", { name: "Switch off" }).click();
        await page.getByText("Somebody changed this since you opened it").waitFor();
        expect((await other.getSettings({})).settings).toEqual(settings);
        await page.getByRole("button", { name: "Show theirs" }).click();
        const core = page.getByRole("switch", { name: "Platform Tools MCP Server" });
        await expect.poll(() => core.isChecked()).toBe(settings?.core);
        await other.updateSettings({ core: before?.core === true });
      }));

    test("two people change one person: the second save is told of the first, and saves nothing", () =>
      as(admin, "settings/people", async (page) => {
        await page.getByRole("button", { name: "Change Keyless" }).click();
        const name = page.getByRole("dialog").getByLabel("Name");
        await name.fill("Mine");
        const { users } = await client(UserService).listUsers({ pageSize: 100 });
        const before = users.find((user) => user.email === keyless.email) as User;
        const { user: theirs } = await client(UserService).updateUser({ id: before.id, name: "Theirs" });
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText("Somebody changed this since you opened it").waitFor();
        expect((await client(UserService).getUser({ id: before.id })).user).toEqual(theirs);
        await page.getByRole("button", { name: "Show theirs" }).click();
        await page.getByRole("heading", { name: "Change Theirs" }).waitFor();
        expect(await name.inputValue()).toBe("Theirs");
        await name.fill("Keyless");
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByRole("rowheader", { name: "Keyless" }).waitFor();
        // Somebody who was deleted meanwhile is not there to be changed.
        const { user: gone } = await client(UserService).createUser({ email: "gone@sallyport.example", name: "Gone" });
        await page.reload();
        await page.getByRole("button", { name: "Change Gone" }).click();
        await name.fill("Still there");
        await client(UserService).deleteUser({ id: gone?.id as string });
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText(/There is no user/).waitFor();
        await page.keyboard.press("Escape");
      }));

    test("two people rename one group: the second save is told of the first, and saves nothing", () =>
      as(admin, "settings/groups", async (page) => {
        await page.getByRole("heading", { name: "Groups", level: 1 }).waitFor();
        const { group } = await client(GroupService).createGroup({ name: "Before" });
        await page.reload();
        await page.getByRole("button", { name: "Rename Before" }).click();
        const name = page.getByRole("dialog").getByLabel("Name");
        await name.fill("Mine");
        await client(GroupService).updateGroup({ id: group?.id as string, name: "Theirs" });
        await page.getByRole("button", { name: "Rename", exact: true }).click();
        await page.getByText("Somebody changed this since you opened it").waitFor();
        await page.getByRole("button", { name: "Show theirs" }).click();
        await expect.poll(() => name.inputValue()).toBe("Theirs");
        await name.fill("Ours");
        await page.getByRole("button", { name: "Rename", exact: true }).click();
        await page.getByRole("rowheader", { name: "Ours" }).waitFor();
        await client(GroupService).deleteGroup({ id: group?.id as string });
      }));

    test("an administrator ends somebody's connection: the client gets 401, and everything else goes on", () =>
      as(admin, "profile/connections", async (page) => {
        const { token } = await client(ApiKeyService).createApiKey({
          ...{ name: "Forgotten laptop", userEmail: analyst.email, scopes: ["cti:read"] },
        });
        expect(await whoami(token)).toBe(200);
        const line = page.getByRole("row").filter({ hasText: "Forgotten laptop" });
        // Last uses are written every few seconds: those who look once more see it.
        const seenAgain = async () => {
          await page.reload();
          await page.getByText("Everybody's", { exact: true }).click();
          return line.innerText();
        };
        await expect
          .poll(seenAgain, { interval: 500, timeout: 20_000 })
          .toMatch(new RegExp(`${analyst.email}.*API key.*cti · read only.*(?:just now|ago)`, "s"));
        await page.getByRole("button", { name: "End Forgotten laptop" }).click();
        await page.getByText(new RegExp(`It calls in the name of ${analyst.email}`)).waitFor();
        await page.getByRole("button", { name: "End connection" }).click();
        await line.waitFor({ state: "detached" });
        expect(await whoami(token)).toBe(401);
        expect(await whoami(program.bootstrap.analyst.api_key)).toBe(200);
      }));

    test("platform servers are switched off: clients get 403, and the analyst's card says by whom", () =>
      as(admin, "settings/endpoint", async (page) => {
        await turn(page, "Platform MCP Servers");
        await page.getByRole("button", { name: "Switch off" }).click();
        await page.getByText("Saved").waitFor();
        expect(await whoami(program.bootstrap.analyst.api_key)).toBe(403);
        await as(analyst, "profile/endpoint", async (analysts) => {
          await analysts.getByText("Switched off").nth(2).waitFor();
          await analysts
            .getByText(/^Administrator switched the platform servers off on .*Ask an administrator/)
            .first()
            .waitFor();
          expect(await analysts.getByRole("button", { name: "Config of cti" }).isDisabled()).toBe(true);
        });
        await turn(page, "Platform MCP Servers");
        await expect.poll(() => whoami(program.bootstrap.analyst.api_key)).toBe(200);
      }));

    test("a platform is registered, serves in place of the present one, and is forgotten", () =>
      as(admin, "settings/endpoint", async (page) => {
        const platforms = page.getByRole("region", { name: "Platforms" });
        const paris = platforms.getByRole("row").filter({ hasText: "OpenCTI in Paris" });
        await page.getByRole("button", { name: "Register a platform" }).click();
        await page.getByLabel("Title").fill("OpenCTI in Paris");
        await page.getByLabel("Address", { exact: true }).fill("no address");
        await page.getByRole("button", { name: "Register", exact: true }).click();
        await page.getByText("The platform was not registered").waitFor();
        await page.getByLabel("Address", { exact: true }).fill("https://opencti.example.org");
        await page.getByRole("button", { name: "Register", exact: true }).click();
        await paris.waitFor();
        expect(await whoami(program.bootstrap.analyst.api_key)).toBe(200);
        await page.getByRole("button", { name: "Serve cti from OpenCTI in Paris" }).click();
        await page.getByRole("button", { name: "Serve", exact: true }).click();
        await paris.getByText("Serves").waitFor();
        await page.getByRole("button", { name: "Serve cti from Sandbox threat intelligence" }).click();
        await page.getByRole("button", { name: "Serve", exact: true }).click();
        await paris.getByText("Serves").waitFor({ state: "detached" });
        await page.getByRole("button", { name: "Forget OpenCTI in Paris" }).click();
        await page.getByRole("button", { name: "Forget platform" }).click();
        await paris.waitFor({ state: "detached" });
      }));

    test("a person is created, put into a group, signs in with a password of their own, and is disabled", () =>
      as(admin, "settings/groups", async (page) => {
        await page.getByRole("button", { name: "New group" }).click();
        await typeIn(page, "Night shift");
        await page.keyboard.press("Enter");
        await page.getByRole("rowheader", { name: "Night shift" }).waitFor();
        await page.getByRole("link", { name: "People" }).click();
        await page.getByRole("button", { name: "New person" }).click();
        await page.getByLabel("Name").fill("Robin");
        await page.getByLabel("E-mail address").fill("robin@sallyport.example");
        await page.getByLabel("First password").fill("the first of many words");
        await page.getByText("Night shift").click();
        await page.getByRole("button", { name: "Create person" }).click();
        await page
          .getByRole("row")
          .filter({ hasText: /Robin.*Night shift/ })
          .waitFor();
        const robin = await atConsole(chromium, program);
        await robin.open("");
        await robin.signIn({ email: "robin@sallyport.example", password: "the first of many words" });
        await robin.page.getByLabel("Password until now").fill("the first of many words");
        await robin.page.getByLabel("New password").fill("the second of many words");
        await robin.page.getByRole("button", { name: "Change password" }).click();
        await robin.page.getByRole("heading", { name: "MCP Endpoint", level: 1 }).waitFor();
        await page.getByRole("button", { name: "Change Robin" }).click();
        await page.getByText("Disabled: nothing of theirs is served").click();
        await page.getByRole("button", { name: "Save" }).click();
        await page
          .getByRole("row")
          .filter({ hasText: /Robin.*Disabled/ })
          .waitFor();
        await robin.page.getByRole("navigation").getByRole("link", { name: "API Keys" }).click();
        await robin.page.getByRole("heading", { name: "Your session has ended" }).waitFor();
        await robin.close();
        await page.getByRole("button", { name: "Delete Robin" }).click();
        await page.getByRole("button", { name: "Delete person" }).click();
        await page.getByRole("row").filter({ hasText: /Robin/ }).waitFor({ state: "detached" });
      }));

    test("what is refused in a form is said there, and what was written stays", () =>
      as(admin, "settings/people", async (page) => {
        await page.getByRole("button", { name: "New person" }).click();
        await page.getByLabel("Name").fill("Nobody");
        await page.getByLabel("E-mail address").fill("no address");
        await page.getByRole("button", { name: "Create person" }).click();
        await page.getByText("The person was not created").waitFor();
        expect(await page.getByLabel("Name").inputValue()).toBe("Nobody");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "New person" }).click();
        expect(await page.getByLabel("Name").inputValue()).toBe("");
        await page.keyboard.press("Escape");
      }));

    test("the audit, as an address that can be given to a colleague", () =>
      as(admin, "settings/audit?kind=refusal&period=day", async (page) => {
        await page.getByRole("button", { name: /Refusals/ }).waitFor();
        await page.getByRole("button", { name: /What/ }).click();
        await page.getByRole("option", { name: "Sign-ins" }).click();
        await page
          .getByRole("row")
          .filter({ hasText: /sign_in.*ok/ })
          .first()
          .waitFor();
        expect(new URL(page.url()).searchParams.get("kind")).toBe("sign_in");
      }));

    test("signing out everywhere ends the other browser's session with its next request", () =>
      as(analyst, "profile/connections", async (page) => {
        await as(analyst, "profile/keys", async (other) => {
          await other.getByRole("heading", { name: "API Keys", level: 1 }).waitFor();
          await page.getByRole("button", { name: "Sign out everywhere" }).click();
          await page.getByRole("alertdialog").getByRole("button", { name: "Sign out everywhere" }).click();
          await page.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
          await other.getByText("Show revoked").click();
          await other.getByRole("heading", { name: "Your session has ended" }).waitFor();
        });
      }));
  });
});
