import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { realPlatform, truth } from "../frame/real.js";
import { NEEDED, preparePhishingDrill } from "./drill.js";
import { ask } from "./rows/lives.js";
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

/** Somebody with these rights in the first tenant, once they act. */
async function somebodyWith(name: string, rights: readonly string[]) {
  const email = `${name}-${stage.world.run}@truth.test`;
  const account = { user_email: email, user_firstname: name, user_lastname: stage.world.run, user_admin: false };
  const make = async (path: string, body: object, id: string): Promise<string> => {
    const made = (await ask(stage, FIRST, "POST", path, body))[id];
    stage.world.removeLater(FIRST, `${path}/${made}`);
    return made;
  };
  const user = await make("/users", { ...account, user_plain_password: "Truth-2026-test" }, "user_id");
  const label = `${name} ${stage.world.run}`;
  const group = await make("/groups", { group_name: label, group_default_user_assign: false }, "group_id");
  const role = await make("/roles", { role_name: label, role_capabilities: rights }, "role_id");
  await ask(stage, FIRST, "PUT", `/groups/${group}/users`, { group_users: [user] });
  await ask(stage, FIRST, "PUT", `/groups/${group}/roles`, { group_roles: [role] });
  for (let i = 0; i < 40; i++) {
    const me = await stage.platform.need(email, "GET", "/api/me");
    if (rights.every((right) => me.user_capabilities.includes(right))) break;
    await sleep(1_000);
  }
  return stage.product.person(name, email);
}

truth("a phishing drill is prepared with just the rights it needs", missing, async () => {
  const person = await somebodyWith("driller", NEEDED);
  const drill = { name: `Phishing drill ${stage.world.run}`, rules: `Nobody outside the teams. ${stage.world.run}` };
  const made = await preparePhishingDrill(person, drill);
  stage.world.removeLater(FIRST, `/scenarios/${made.scenario}`);
  stage.world.removeLater(FIRST, `/documents/${made.document}`);
  made.transcript.write("aev-phishing-drill-real");
  const teams = await ask(stage, FIRST, "GET", `/scenarios/${made.scenario}/teams`);
  expect(teams.map((team: { team_id: string }) => team.team_id)).toEqual([made.team]);
});
