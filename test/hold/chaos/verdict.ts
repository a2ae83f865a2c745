import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Asker } from "./asking.js";
import { tryRevoked } from "./clients.js";
import type { Deployment } from "./deployments.js";
import type { Ledger, Person } from "./ledger.js";
import type { Stage } from "./stage.js";

// What is there once all is calm again, seen from outside, against what clients were told.

const CLI = join(import.meta.dirname, "../../../dist/clients/cli/main.js");
/** For every process to be ready again, and for runs whose worker died to be taken again. */
const SETTLE_MS = 60_000;
/** How often a list is asked for again that cannot be read, twice a second. */
const TRIES = 40;
/** The most memory that a process and what it started may take, in MiB. */
const MOST_MIB = 2_048;

/** Looks at everything; whatever does not fit is a problem in the ledger. */
export async function judge(deployment: Deployment, stage: Stage, ledger: Ledger): Promise<void> {
  const [door] = stage.doors as [string];
  await ready(stage, ledger);
  const admin = new Asker(stage.admin.key, ledger.problem);
  await runsEnd(stage, ledger);
  for (const person of stage.people) await objects(person, door, stage, ledger);
  for (const token of ledger.revoked) await Promise.all(stage.doors.map((at) => tryRevoked(token, at, ledger)));
  await audit(admin, door, ledger, deployment, stage);
  await admin.close();
  for (const member of deployment.members) {
    member.weigh();
    if (member.mostMiB > MOST_MIB) ledger.problem(`${member.name} took ${member.mostMiB} MiB`);
    // With the lines that follow: of an error that nobody handles they say which and where.
    const bad = /^.*(?:uncaught|unhandled|FATAL|"level":60|JavaScript heap)[\s\S]{0,1500}/im.exec(member.output);
    if (bad !== null) ledger.problem(`${member.name} said: ${bad[0]}`);
  }
  for (const member of deployment.members.toReversed()) {
    const code = await member.end("SIGTERM");
    if (code !== 0) ledger.problem(`${member.name} ended with ${code}: ${member.output.slice(-500)}`);
  }
}

async function ready({ doors }: Stage, ledger: Ledger): Promise<void> {
  const end = Date.now() + SETTLE_MS;
  for (const door of doors) {
    for (;;) {
      const reply = await fetch(`${door}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
      const text = await reply?.text().catch(() => "");
      if (reply?.status === 200) break;
      if (Date.now() > end) return ledger.problem(`${door} is not ready again: ${reply?.status} ${text}`);
      await sleep(100);
    }
  }
}

/** Every row of a list. */
async function all<T>(asker: Asker, door: string, tool: string, rows: string, ledger: Ledger): Promise<T[]> {
  const found: T[] = [];
  let page_token: string | undefined;
  for (let tries = 0; ; ) {
    const args = { page_size: 100, ...(page_token !== undefined && { page_token }) };
    const { value, heard } = await asker.call(door, "core", tool, args);
    if (value === undefined) {
      if (++tries > TRIES) {
        ledger.problem(`${tool} fails: ${JSON.stringify(heard).slice(0, 400)}`);
        return found;
      }
      await sleep(500);
      continue;
    }
    found.push(...((value[rows] ?? []) as T[]));
    page_token = value.next_page_token as string | undefined;
    if (page_token === undefined || page_token === "") return found;
  }
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

async function objects(person: Person, door: string, { people }: Stage, ledger: Ledger): Promise<void> {
  const asker = new Asker(person.key, ledger.problem);
  const rows = await all<Row>(asker, door, "list_agents", "agents", ledger);
  const names = new Map<string, number>();
  for (const { name } of rows) names.set(name, (names.get(name) ?? 0) + 1);
  for (const { name, outcome, person: whose, id, answer } of ledger.writes) {
    const there = names.get(name) ?? 0;
    if (whose !== person) {
      if (there > 0) ledger.problem(`${person.email} sees ${name}`);
    } else if (there > 1) ledger.problem(`${name} is there ${there} times`);
    else if (outcome === "done" && !rows.some((row) => row.id === id))
      ledger.problem(`${name} was acknowledged and is lost`);
    else if (outcome === "unchanged" && there > 0)
      ledger.problem(`${name} is there, and its client was told "unchanged": ${answer}`);
  }
  for (const other of people)
    if (other !== person && rows.some(({ name }) => name.startsWith(other.mark)))
      ledger.problem(`${person.email} sees what is ${other.email}'s`);
  for (const { id, done, sent } of ledger.registers.filter((register) => register.person === person)) {
    const is = Number(rows.find((row) => row.id === id)?.description ?? 0);
    if (is < done || is > sent) ledger.problem(`a counter is ${is}; ${done} was acknowledged, ${sent} sent`);
  }
  await asker.close();
}

interface RunRow {
  readonly id: string;
  readonly state: string;
  readonly input?: string;
  readonly error?: { readonly reason: string; readonly message: string };
}

/** Every run that was acknowledged is there once, has ended, and called its tool once. */
async function runsEnd({ people: [person], doors: [door] }: Stage, ledger: Ledger): Promise<void> {
  const asker = new Asker(person!.key, ledger.problem);
  const end = Date.now() + SETTLE_MS;
  let rows: RunRow[];
  for (;;) {
    rows = await all<RunRow>(asker, door!, "list_runs", "runs", ledger);
    const open = rows.filter(({ state }) => state === "queued" || state === "running");
    if (open.length === 0) break;
    if (Date.now() > end) {
      ledger.problem(`${open.length} runs do not end: ${JSON.stringify(open[0])}`);
      break;
    }
    await sleep(500);
  }
  const byId = new Map(rows.map((row) => [row.id, row]));
  if (byId.size !== rows.length) ledger.problem("a run is listed twice");
  for (const { name, id } of ledger.runs) {
    const times = ledger.executed.get(name) ?? 0;
    if (times > 1) ledger.problem(`${name} was executed ${times} times`);
    if (id === undefined) continue;
    const run = byId.get(id);
    if (run === undefined) ledger.problem(`${name} was acknowledged and is lost`);
    else if (run.state !== "completed") ledger.problem(`${name} is ${run.state}: ${JSON.stringify(run.error)}`);
    else if (times === 0) ledger.count("runs whose tool call was lost");
  }
  const asked = ledger.runs.length;
  if (rows.length > asked) ledger.problem(`${asked} runs were asked for, and ${rows.length} are there`);
  await asker.close();
}

interface AuditRow {
  readonly number: string;
  readonly action: string;
  readonly outcome: string;
  readonly traceId?: string;
  readonly recordedAt: string;
}

/** A record that waits for its outcome holds the ones behind it back for so long. */
const BEGUN_MS = 60_000;

async function audit(
  admin: Asker,
  door: string,
  ledger: Ledger,
  { received }: Deployment,
  stage: Stage,
): Promise<void> {
  const rows = await records(admin, door);
  if (rows === undefined) return ledger.problem("the audit cannot be read");
  rows.forEach(({ number }, i) => {
    if (Number(number) !== i + 1) ledger.problem(`record ${number} of the audit stands in place ${i + 1}`);
  });
  const byTrace = new Map<string, AuditRow[]>();
  for (const row of rows) byTrace.set(row.traceId ?? "", [...(byTrace.get(row.traceId ?? "") ?? []), row]);
  for (const { name, trace, outcome } of ledger.writes) {
    const own = byTrace.get(trace) ?? [];
    if (own.length > 1) ledger.problem(`${name} has ${own.length} records`);
    if (outcome === "done" && own[0]?.outcome !== "ok")
      ledger.problem(`${name} was acknowledged, and its record is ${JSON.stringify(own[0])}`);
  }
  await sent(rows, received, ledger);
  for (const args of [
    ["--url", door, "--key", stage.admin.key],
    // There is none while the first record waits for its outcome.
    ...(existsSync(received) ? [["--file", received]] : []),
  ]) {
    const said = await verify(args);
    if (said !== undefined) ledger.problem(`audit verify ${args[0]}: ${said}`);
  }
}

async function records(admin: Asker, door: string): Promise<AuditRow[] | undefined> {
  const rows: AuditRow[] = [];
  for (let tries = 0; ; ) {
    const asked = { afterNumber: rows.at(-1)?.number ?? "0", pageSize: 100 };
    const page = await admin.rpc<{ records?: AuditRow[] }>(door, "auth.v1.AuditService/ListAuditRecords", asked);
    if (page === undefined) {
      if (++tries > 5) return undefined;
      await sleep(500);
    } else if ((page.records ?? []).length === 0) return rows;
    else rows.push(...(page.records ?? []));
  }
}

/** What the receiver has: each record once and in order, up to one that may still wait for its outcome. */
async function sent(rows: readonly AuditRow[], file: string, ledger: Ledger): Promise<void> {
  const waits = rows.find(
    ({ outcome, recordedAt }) => outcome === "begun" && Date.now() - Date.parse(recordedAt) < BEGUN_MS + 5_000,
  );
  const last = waits === undefined ? rows.length : Number(waits.number) - 1;
  const end = Date.now() + 75_000;
  for (;;) {
    const lines = existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line !== "")
      : [];
    const numbers = lines.map((line) => Number((JSON.parse(line) as { number: string }).number));
    const wrong = numbers.findIndex((number, i) => number !== i + 1);
    if (wrong !== -1) return ledger.problem(`the receiver has ${numbers[wrong]} in place ${wrong + 1}`);
    if (numbers.length >= last) return;
    if (Date.now() > end) return ledger.problem(`the receiver has ${numbers.length} of ${last} records`);
    await sleep(500);
  }
}

/** What `audit verify` finds; undefined if everything fits. */
function verify(args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, "audit", "verify", ...args, "--json"], (error, stdout, stderr) =>
      resolve(error === null ? undefined : `${stdout}${stderr}`.slice(0, 400)),
    );
  });
}
