import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../fuzz/random.js";
import { load } from "./clients.js";
import { deploy, type Layout } from "./deployments.js";
import { planFaults } from "./faults.js";
import { Ledger } from "./ledger.js";
import { prepare } from "./stage.js";
import { judge } from "./verdict.js";

/** What a schedule did, and what did not hold. */
export interface Report {
  readonly faults: readonly string[];
  readonly requests: number;
  /** Answers by their status, and what was lost. */
  readonly answers: string;
  readonly writes: number;
  readonly runs: number;
  readonly revoked: number;
  readonly mostMiB: number;
  readonly problems: readonly string[];
}

const WEIGH_MS = 1_000;

/** Plays a schedule on a new deployment: load, faults, and the verdict when all is calm. */
export async function runSchedule(layout: Layout, random: Random, forMs: number): Promise<Report> {
  const ledger = new Ledger();
  const faults = planFaults(layout, random, forMs);
  let mostMiB = 0;
  const deployment = await deploy(layout);
  const weighing = setInterval(() => {
    for (const member of deployment.members) member.weigh();
  }, WEIGH_MS);
  try {
    const stage = await prepare(deployment, ledger);
    const enough = AbortSignal.timeout(forMs);
    const loaded = load(stage, ledger, random, enough);
    const happened = faults.map(async ({ atMs, name, happen }) => {
      await sleep(atMs);
      await happen(deployment, stage.people[1]!.key).catch((error: Error) =>
        ledger.problem(`${name}: ${error.message}`),
      );
    });
    await Promise.all([loaded, ...happened]);
    await judge(deployment, stage, ledger);
    await stage.close();
  } catch (error) {
    ledger.problem((error as Error).stack ?? String(error));
  } finally {
    clearInterval(weighing);
    mostMiB = Math.max(...deployment.members.map((member) => member.mostMiB));
    await deployment.close();
  }
  const answers = [...ledger.counts].sort(([, a], [, b]) => b - a);
  return {
    faults: faults.map(({ atMs, name }) => `${atMs} ms: ${name}`),
    requests: answers.reduce((sum, [what, n]) => sum + (what.startsWith("runs ") ? 0 : n), 0),
    answers: answers.map(([what, n]) => `${what} × ${n}`).join(", "),
    writes: ledger.writes.filter(({ outcome }) => outcome === "done").length,
    runs: ledger.runs.length,
    revoked: ledger.revoked.length,
    mostMiB,
    problems: [...ledger.problems],
  };
}
