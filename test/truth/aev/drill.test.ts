import { afterAll, beforeAll, expect } from "vitest";
import { realPlatform, truth } from "../frame/real.js";
import { NEEDED, preparePhishingDrill } from "./drill.js";
import { ask } from "./rows/lives.js";
import { somebodyWith } from "./somebody.js";
import { type Stage, startStage, stopStage } from "./stage.js";
import { FIRST } from "./world.js";

// Jobs from end to end on the real platform, each as somebody with just the
// rights it needs; test/system does them on the built-in one.

const { settings, missing } = realPlatform("AEV_REAL_URL", "AEV_REAL_ISSUER");

let stage: Stage;

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage({
    url: settings.AEV_REAL_URL,
    issuer: settings.AEV_REAL_ISSUER,
    admin: process.env.AEV_REAL_ADMIN ?? "admin@example.com",
  });
}, 300_000);
afterAll(() => (stage === undefined ? undefined : stopStage(stage)), 120_000);

truth("a phishing drill is prepared with just the rights it needs", missing, async () => {
  const person = await somebodyWith(stage, "driller", NEEDED);
  const drill = { name: `Phishing drill ${stage.world.run}`, rules: `Nobody outside the teams. ${stage.world.run}` };
  const made = await preparePhishingDrill(person, drill);
  stage.world.removeLater(FIRST, `/scenarios/${made.scenario}`);
  stage.world.removeLater(FIRST, `/documents/${made.document}`);
  made.transcript.write("aev-phishing-drill-real");
  const teams = await ask(stage, FIRST, "GET", `/scenarios/${made.scenario}/teams`);
  expect(teams.map((team: { team_id: string }) => team.team_id)).toEqual([made.team]);
});
