import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import type { Program } from "./program.js";

// The console in a real browser. Each look at a screen holds it against axe (WCAG 2.2 A and AA, and best
// practice) and against our own policy of content; what they find is a failure of the test.

/** Whose browser it is. */
export interface PersonAtConsole {
  readonly email: string;
  readonly password: string;
}

/** How a browser is set up. */
export interface View {
  readonly theme?: "light" | "dark";
  readonly width?: number;
}

/** A browser at the console. */
export interface AtConsole {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a page of the console, by its path below /console/. */
  open(path: string): Promise<void>;
  signIn(person: PersonAtConsole): Promise<void>;
  /** Looks for findings on the screen as it is now; keeps a picture where SCREENSHOTS says so. @returns the findings. */
  look(name: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** What the page has, where these tests run code in it. */
interface InBrowser {
  readonly axe: Pick<typeof import("axe-core"), "run">;
  violations: string[];
  readonly document: { readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number } };
  addEventListener(
    name: "securitypolicyviolation",
    listener: (event: { readonly effectiveDirective: string; readonly blockedURI: string }) => void,
  ): void;
}

/** Where pictures are kept; nowhere unless it is set. */
const { SCREENSHOTS } = process.env;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Words of the browser itself about answers that a test asks for. */
const EXPECTED = /status of (?:400|401|403|404|409|503)|ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/;

/** Opens a browser of somebody's own. */
export async function atConsole(
  chromium: Browser,
  { baseUrl }: Pick<Program, "baseUrl">,
  view: View = {},
): Promise<AtConsole> {
  const { theme = "light", width = 1280 } = view;
  const context = await chromium.newContext({
    viewport: { width, height: 860 },
    colorScheme: theme,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !EXPECTED.test(message.text())) complaints.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    const seen: string[] = [];
    const browser = globalThis as unknown as InBrowser;
    browser.violations = seen;
    browser.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
      seen.push(`${effectiveDirective} ${blockedURI}`),
    );
  });
  return {
    page,
    context,
    async open(path) {
      await page.goto(`${baseUrl}/console/${path}`);
    },
    async signIn({ email, password }) {
      await page.getByLabel("E-mail address").fill(email);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
    },
    async look(name) {
      // Motion has ended, and what was asked for has come.
      await page.waitForTimeout(350);
      await page.evaluate(AXE);
      const found = await page.evaluate(async (tags) => {
        const { axe, violations, document } = globalThis as unknown as InBrowser;
        // React Aria's announcer for screen readers keeps a picture whose label is gone already.
        const { violations: faults } = await axe.run({ exclude: ["[data-live-announcer]"] }, { runOnly: tags });
        const said = faults.map(
          ({ id, impact, nodes }) => `axe: ${impact} ${id} ${nodes.map((n) => n.html).join(" | ")}`,
        );
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth > clientWidth) said.push(`the page is ${scrollWidth} px wide, the screen ${clientWidth}`);
        return [...said, ...violations.splice(0).map((one) => `policy: ${one}`)];
      }, TAGS);
      if (SCREENSHOTS !== undefined) {
        mkdirSync(SCREENSHOTS, { recursive: true });
        await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
      }
      return [...found, ...complaints.splice(0)];
    },
    close: () => context.close(),
  };
}

/** Gives a person a password of their own: what an administrator set is good for nothing else. */
export async function withOwnPassword(
  { baseUrl }: Pick<Program, "baseUrl">,
  { email, password }: PersonAtConsole,
  next = "correct horse battery staple",
): Promise<PersonAtConsole> {
  const headers = { "content-type": "application/json", origin: new URL(baseUrl).origin };
  const url = `${baseUrl}/console/session`;
  const signedIn = await fetch(url, { method: "POST", headers, body: JSON.stringify({ email, password }) });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(";", 1)[0])
    .join("; ");
  const changed = await fetch(`${url}/password`, {
    method: "POST",
    headers: { ...headers, cookie },
    body: JSON.stringify({ current: password, next }),
  });
  if (!changed.ok) throw new Error(`the password was not changed: ${await changed.text()}`);
  return { email, password: next };
}

/** Creates a person without a key, who has chosen a password. */
export async function newPerson(
  program: Pick<Program, "baseUrl" | "bootstrap">,
  email: string,
): Promise<PersonAtConsole> {
  const { baseUrl, bootstrap } = program;
  const users = connectClient(UserService, {
    baseUrl: `${baseUrl}/rpc`,
    apiKey: bootstrap.admin.api_key,
    httpVersion: "1.1",
  });
  const password = "set by an administrator, 7 words";
  await users.createUser({ email, name: email.split("@", 1)[0] as string, password });
  return withOwnPassword(program, { email, password });
}
