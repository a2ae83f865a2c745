import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { Figures } from "../frame/questions.js";
import { realPlatform, truth } from "../frame/real.js";
import { jobsOf } from "./asked.js";
import { report } from "./asked-agents.js";
import { groundOf } from "./asked-ground.js";
import { copyOf } from "./asked-plans.js";
import { ask } from "./rows/lives.js";
import { personOf, type Stage, seenBy, startStage, stopStage } from "./stage.js";
import { FIRST } from "./world.js";

// The jobs of asked.md on a real platform. Its database is written to where an agent
// would report, or time would pass.

const { settings, missing } = realPlatform("AEV_REAL_URL", "AEV_REAL_ISSUER", "AEV_REAL_DATABASE");

let stage: Stage;
let isOver = false;
let agent: Promise<void> | undefined;
const figures = new Figures();

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage({
    url: settings.AEV_REAL_URL,
    issuer: settings.AEV_REAL_ISSUER,
    admin: process.env.AEV_REAL_ADMIN ?? "admin@example.com",
  });
  await groundOf(stage);
  agent = act();
}, 590_000);

afterAll(async () => {
  if (stage === undefined) return;
  figures.write();
  isOver = true;
  await agent;
  await stopStage(stage);
}, 120_000);

/** Does what the agent of srv-paris-02 would: what it is told to run has run a moment later. */
async function act(): Promise<void> {
  const { servers } = await groundOf(stage);
  const seen = seenBy(stage, "administrator", FIRST);
  const done = new Set<string>();
  while (!isOver) {
    for (const { inject_id: id, inject_title: title } of await seen.of("atomic")) {
      if (title !== `As asked ${stage.world.run}` || done.has(id)) continue;
      const read = await seen.read(`/atomic-testings/${id}`);
      if (read?.inject_status?.status_name !== "PENDING") continue;
      await report(stage, id, servers["srv-paris-02"]!.agent!);
      done.add(id);
      stage.world.removeLater(FIRST, `/atomic-testings/${id}`);
    }
    await sleep(1_000);
  }
}

for (const [i, { words }] of jobsOf("").entries()) {
  truth(words, missing, async () => {
    const job = jobsOf(stage.world.run)[i]!;
    await figures.prove(job, stage, personOf(stage, job.as));
  });
}

truth("what was planned is at the platform", missing, async () => {
  const { scenario } = await groundOf(stage);
  const row = await ask(stage, FIRST, "GET", `/scenarios/${scenario}`);
  expect(row.scenario_recurrence).toMatch(/^0 0 [78] \* \* TUE$/);
  expect(row.scenario_recurrence_end).toMatch(/-03-31T23:59:59/);
  const copy = (await copyOf(stage))!;
  stage.world.removeLater(FIRST, `/scenarios/${copy.id}`);
  expect(copy.mail).toMatchObject({ inject_depends_duration: 7_200, inject_enabled: true });
  expect(copy.mail.inject_content.body).toContain("Please acknowledge");
  expect(copy.mail.inject_content.expectations).toMatchObject([
    { expectation_type: "MANUAL", expectation_score: 50, expectation_expiration_time: 1_800 },
  ]);
});

truth("objectives, other people's rights and disabled players have no tool", missing, async () => {
  const tools = await personOf(stage, "administrator").tools();
  expect(tools.filter((tool) => /objective|role|grant|user|disable/.test(tool))).toEqual([]);
});
