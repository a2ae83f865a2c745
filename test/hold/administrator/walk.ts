// What main.ts runs: each section of the page, and after it what must be true then.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../services/auth/federation/browser.js";
import { call, post } from "../../support/mcp.js";
import { authorizeUrl, redeem, register } from "../../support/oauth/by-hand.js";
import { startKeycloak } from "../keycloak/keycloak.js";
import { CLIENT_SECRET, PASSWORD, realmOf } from "../keycloak/realm.js";
import { bootMachine, type Machine } from "./machine.js";
import { type Other, openTls, type Receiver, startReceiver } from "./others.js";
import { SETTINGS_FILE, type Step, sectionsOf, withSettings } from "./page.js";

const BASE = "https://sallyport.example.com";
const CORE = `${BASE}/mcp/core`;
const [folder = ""] = process.argv.slice(2);
const { GRC_REAL_URL: real, GRC_REAL_LOGIN: login = "" } = process.env;
const began = Date.now();
const say = (text: string): void =>
  void process.stdout.write(`${String(Math.round((Date.now() - began) / 1_000)).padStart(4)} s  ${text}\n`);

const ending: Other[] = [];
/** The key that the page made last. */
let key = "";
/** The key that the loss of the store ended. */
let endedKey = "";
/** An object that the backup has. */
const KEPT = "KEPT";

/** The platform's port: that of a real one, or of a built-in one in a process of its own. */
async function platformPort(): Promise<number> {
  if (real !== undefined) return Number(new URL(real).port);
  const child = spawn(
    process.execPath,
    ["dist/services/sandbox/main.js", "--platform", "grc", "--trust", BASE, "--public-url", "https://grc.example.com"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  ending.push({ close: () => void child.kill() });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return Number(/:(\d+)\s*$/.exec(String(said))?.[1]);
}

/** What an administrator of CISO Assistant does there: the JSON of the page for operations, as it is. */
async function trustTheService(): Promise<void> {
  if (real === undefined) return;
  const [email, password] = login.split(/:(.*)/);
  const page = readFileSync(join(import.meta.dirname, "../../../docs/operations.md"), "utf8");
  const settings = /```json\n([\s\S]*?"server_url"[\s\S]*?)```/.exec(page)?.[1] ?? "";
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ email, password });
  const signedIn = await fetch(`${real}/api/_allauth/app/v1/auth/login`, { method: "POST", headers: json, body });
  const { meta } = (await signedIn.json()) as { meta: { access_token: string } };
  const headers = { ...json, authorization: `Token ${meta.access_token}` };
  const answer = await fetch(`${real}/api/settings/sso/`, { method: "PUT", headers, body: settings });
  assert.ok(answer.ok, await answer.text());
}

/** Signs a person in at Keycloak, as an MCP client does; the access token for core. */
async function tokenOf(username: string): Promise<string> {
  const client = await register(BASE);
  const [verifier, resource] = ["v".repeat(43), CORE];
  const browser = new Browser();
  const page = await browser.open(authorizeUrl(client, { resource }, verifier));
  const href = /href="([^"]+)">Sign in with Corp account</.exec(page.text)?.[1] ?? "";
  const form = await browser.open(new URL(href.replaceAll("&#38;", "&"), BASE));
  const consent = await browser.submit(form, { username, password: PASSWORD });
  const isBack = (url: URL): boolean => url.href.startsWith(client.callback);
  const { url } = await browser.submit(consent, { answer: "allow", write: "yes" }, isBack);
  const code = url.searchParams.get("code");
  assert.ok(code, consent.text);
  return (await redeem({ ...client, code, verifier, resource })).body.access_token as string;
}

let receiver: Receiver;

/** Waits until the receiver has each record; the number of the newest. After a restore it may have numbers twice. */
async function allReceived(
  run: Machine["run"],
  had: (numbers: number[]) => number[] = (numbers) => numbers,
): Promise<number> {
  // The table's first row, after its heading.
  const newest = Number(/^(\d+) /m.exec(await run("sallyport audit list --limit 1"))?.[1]);
  const all = Array.from({ length: newest }, (_, i) => i + 1);
  for (let i = 0; i < 60 && !receiver.numbers().includes(all.length); i++) await sleep(500);
  assert.deepEqual(had(receiver.numbers()), all);
  return all.length;
}

/** What is true after a section. */
const AFTER: Readonly<Record<string, (machine: Machine, said: string) => Promise<void>>> = {
  async "Settings and start"({ run }) {
    assert.match(await run("systemctl is-active sallyport"), /^active/);
    assert.match(await run("systemctl show sallyport --property=NRestarts"), /=0$/m);
  },
  async TLS() {
    assert.equal((await fetch(`${BASE}/readyz`)).status, 200);
    assert.equal((await fetch(`${BASE}/console/`)).status, 200);
  },
  async "First sign-in"() {
    assert.ok("agents" in (await call(CORE, key, "list_agents")));
    await trustTheService();
  },
  async "A platform"({ run }, said) {
    assert.match(said, /ok +platform grc/);
    // The page's reader has the same address on both sides.
    const email = real === undefined ? "analyst@sallyport.example" : (login.split(":")[0] ?? "");
    const made = JSON.parse(
      await run(
        `sallyport users create --email ${email} --name There >/dev/null; sallyport keys create --user ${email} --name walk --json`,
      ),
    ) as { api_key: string };
    say(JSON.stringify(await call(`${BASE}/mcp/grc`, made.api_key, "whoami")).slice(0, 200));
  },
  async "Sign-in at your provider"({ run }) {
    const token = await tokenOf("ana");
    assert.ok("agents" in (await call(CORE, token, "list_agents")));
    assert.match(await run("sallyport users list --group SOC"), /ana@example\.com/);
  },
  async "Audit to a receiver"({ run }) {
    say(`the receiver has the records 1 to ${await allReceived(run)}, each once`);
    await call(CORE, key, "create_variable", { name: KEPT, value: "in the backup" });
  },
  async "Backup and restore"() {
    // The key goes on, and the object is there.
    assert.match(JSON.stringify(await call(CORE, key, "list_variables")), new RegExp(`"${KEPT}"`));
    endedKey = key;
  },
  async "A lost data directory"({ run }, said) {
    assert.match(said, /problem count +0/);
    assert.match(JSON.stringify(await call(CORE, key, "list_variables")), new RegExp(`"${KEPT}"`));
    assert.equal((await post(CORE, endedKey, "tools/list")).status, 401);
    const once = (numbers: number[]): number[] => [...new Set(numbers)].sort((one, other) => one - other);
    say(`the receiver has the records 1 to ${await allReceived(run, once)}`);
  },
  async Upgrade() {
    assert.match(JSON.stringify(await call(CORE, key, "list_variables")), new RegExp(`"${KEPT}"`));
  },
};

async function walk(machine: Machine): Promise<void> {
  for (const { title, steps } of sectionsOf("install.md")) {
    if (title === "Container") continue;
    say(title);
    let said = "";
    for (const step of steps) said += await take(machine, step);
    await AFTER[title]?.(machine, said);
  }
}

/** Does what a step says; what its commands printed. */
async function take({ root, run }: Machine, step: Step): Promise<string> {
  if (step.kind === "write") {
    writeFileSync(join(root, step.path), step.text);
    return "";
  }
  if (step.kind === "set") {
    const file = join(root, SETTINGS_FILE);
    writeFileSync(file, withSettings(readFileSync(file, "utf8"), step.lines));
    return "";
  }
  const commands = step.commands.replaceAll("REPOSITORY", "/srv/repository").replaceAll("SECRET", CLIENT_SECRET);
  const said = await run(commands, "$([ -d /opt/sallyport ] && echo /opt/sallyport || echo /root)");
  key = /^api key +(slp_\S+)$/m.exec(said)?.[1] ?? key;
  return said;
}

process.env.KC_HOSTNAME = "https://login.example.com";
const realm = JSON.stringify(realmOf(`${BASE}/oauth/federation/corp/callback`)).replaceAll(
  "corp.example",
  "example.com",
);
const starting = [
  bootMachine(folder, readFileSync(join(folder, "hosts-of-machine"), "utf8")),
  startKeycloak(JSON.parse(realm) as object),
] as const;
const [machine, keycloak] = await Promise.all(starting).catch(async (error: unknown) => {
  // If one does not start, the other one is not left behind.
  for (const one of await Promise.allSettled(starting)) if (one.status === "fulfilled") await one.value.stop();
  throw error;
});
try {
  // Everybody else is at the address that the machine's network has here.
  receiver = startReceiver(folder);
  ending.push(receiver);
  const ports = { "login.example.com": Number(new URL(keycloak.issuer).port), "grc.example.com": await platformPort() };
  ending.push(await openTls(folder, ports));
  copyFileSync(join(folder, "ca.pem"), join(machine.root, "root/company-ca.pem"));
  for (const end of ["pem", "key"])
    copyFileSync(join(folder, `all.${end}`), join(machine.root, `root/sallyport.${end}`));
  say("an empty Debian, a provider, a receiver and a platform");
  await walk(machine);
  say("the page holds");
} catch (error) {
  const { stdout } = error as { stdout?: string };
  process.stdout.write(`${stdout ?? ""}\n${await machine.run("journalctl -u sallyport --no-pager -n 30")}`);
  throw error;
} finally {
  for (const one of ending) one.close();
  await Promise.all([machine.stop(), keycloak.stop()]);
}
