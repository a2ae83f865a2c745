import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { notLong } from "./long.js";
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
  /** The same in both themes, and on a narrow screen, without loading the page again. `npm test` looks at one only. */
  lookEverywhere(name: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** How each screen is looked at: in the long suite, and for pictures, in every theme and on a narrow screen too. */
const ALL_VIEWS = [
  { name: "light", theme: "light", width: 1280 },
  // The same page in other colours.
  { name: "dark", theme: "dark", width: 1280, rules: ["color-contrast"] },
  { name: "narrow", theme: "light", width: 390 },
] as const;
const HEIGHT = 860;
/** Motion has ended, and what was asked for has come. */
const SETTLED_MS = 350;
/** After another theme or another width. */
const SHOWN_MS = 50;
/** Colours change over some time; what moves without an end is not waited for. */
const MOTION_ENDED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  Promise.allSettled(document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().iterations !== Infinity).map((one) => one.finished)))`;

/** What differs from run to run, and what pictures show in its place. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d+/g, "sallyport.example"],
  [/[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d:\d\d [AP]M/g, "Nov 25, 2026, 9:00:00 AM"],
  [/[A-Z][a-z]{2} \d{1,2}, \d{4}$/g, "Feb 23, 2027"],
  [/\d+ (?:seconds?|minutes?|hours?) ago|just now/g, "2 minutes ago"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "019ac0de-0000-7000-8000-000000000000"],
  [/\b(slp|slr)_\w{20,}/g, "$1_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"],
];

/** What the page has, where these tests run code in it. */
interface InBrowser {
  readonly axe: Pick<typeof import("axe-core"), "run">;
  violations: string[];
  readonly document: {
    readonly documentElement: {
      readonly scrollWidth: number;
      readonly clientWidth: number;
      readonly dataset: Record<string, string>;
    };
    readonly body: unknown;
    createTreeWalker(root: unknown, what: number): { nextNode(): { nodeValue: string } | null };
  };
  addEventListener(
    name: "securitypolicyviolation",
    listener: (event: { readonly effectiveDirective: string; readonly blockedURI: string }) => void,
  ): void;
}

/** Types into the field that has the focus, once one has it: a dialog may take its time to open. */
export async function typeIn(page: Page, text: string): Promise<void> {
  await page.waitForFunction("document.activeElement?.matches('input, textarea')");
  await page.keyboard.type(text);
}

/** Where pictures are kept; nowhere unless it is set. */
const { SCREENSHOTS } = process.env;
const VIEWS = notLong === undefined || SCREENSHOTS !== undefined ? ALL_VIEWS : ALL_VIEWS.slice(0, 1);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** How long a page takes at most on a busy machine. */
const MOST_MS = 90_000;
/** Words of the browser itself about answers that a test asks for. */
const EXPECTED =
  /status of (?:400|401|403|404|409|429|503)|ERR_FAILED|ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/;

/** Opens a browser of somebody's own. */
export async function atConsole(
  chromium: Browser,
  { baseUrl }: Pick<Program, "baseUrl">,
  view: View = {},
): Promise<AtConsole> {
  const { theme = "light", width = 1280 } = view;
  const context = await chromium.newContext({
    viewport: { width, height: HEIGHT },
    colorScheme: theme,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(MOST_MS);
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
  async function look(name: string, waitMs = SETTLED_MS, rules?: readonly string[]): Promise<readonly string[]> {
    await page.waitForTimeout(waitMs);
    await page.evaluate(MOTION_ENDED);
    if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
    const only =
      rules === undefined ? { type: "tag" as const, values: TAGS } : { type: "rule" as const, values: [...rules] };
    const found = await page.evaluate(async (runOnly) => {
      const { axe, violations, document } = globalThis as unknown as InBrowser;
      // React Aria's announcer for screen readers keeps a picture whose label is gone already.
      const { violations: faults } = await axe.run(
        { exclude: ["[data-live-announcer]"] },
        { runOnly, resultTypes: ["violations"] },
      );
      const said = faults.map(
        ({ id, impact, nodes }) => `axe: ${impact} ${id} ${nodes.map((n) => n.html).join(" | ")}`,
      );
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth > clientWidth) said.push(`the page is ${scrollWidth} px wide, the screen ${clientWidth}`);
      return [...said, ...violations.splice(0).map((one) => `policy: ${one}`)];
    }, only);
    if (SCREENSHOTS !== undefined) await picture(page, join(SCREENSHOTS, `${name}.png`));
    return [...found, ...complaints.splice(0)];
  }
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
    look,
    async lookEverywhere(name) {
      const found: string[] = [];
      for (const [at, { name: view, theme: shown, width: wide, ...more }] of VIEWS.entries()) {
        await page.setViewportSize({ width: wide, height: HEIGHT });
        await page.evaluate((value) => {
          (globalThis as unknown as InBrowser).document.documentElement.dataset.theme = value;
        }, shown);
        const rules = "rules" in more ? more.rules : undefined;
        const said = await look(`${name}-${view}`, at === 0 ? SETTLED_MS : SHOWN_MS, rules);
        found.push(...said.map((one) => `${view}: ${one}`));
      }
      await page.setViewportSize({ width, height: HEIGHT });
      await page.evaluate((value) => {
        (globalThis as unknown as InBrowser).document.documentElement.dataset.theme = value;
      }, theme);
      return found;
    },
    close: () => context.close(),
  };
}

/** Keeps a picture. It is the same with each run: ports, times and keys are written as fixed ones. */
async function picture(page: Page, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  await page.evaluate(
    (texts) => {
      const { document } = globalThis as unknown as InBrowser;
      const walker = document.createTreeWalker(document.body, 4);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const { nodeValue } = node;
        const fixed = texts.reduce(
          (text, [source, flags, instead]) => text.replace(new RegExp(source, flags), instead),
          nodeValue,
        );
        if (fixed !== nodeValue) node.nodeValue = fixed;
      }
    },
    VOLATILE.map(([{ source, flags }, instead]) => [source, flags, instead] as const),
  );
  await page.screenshot({ path, fullPage: true });
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
