import { test } from "vitest";
import { startSandbox } from "../../../services/sandbox/aev/server.js";
import { freePorts } from "../../support/program.js";
import { startProduct } from "../frame/product.js";
import { realPlatform, truth } from "../frame/real.js";
import { startIssuer } from "./issuer.js";
import { coverAndLaunch, NEEDED, prepare, whyFailed } from "./jobs.js";
import { RealPlatform } from "./platform.js";
import { somebodyWith } from "./somebody.js";
import { startStage, stopStage } from "./stage.js";
import { FIRST } from "./world.js";

const { settings, missing } = realPlatform("AEV_REAL_URL", "AEV_REAL_ISSUER");
const IN_FIRST = `/api/tenants/${FIRST}`;
/** How much later it is on the built-in platform at each look: its runs take minutes. */
const STEP_MS = 20_000;

test("on the built-in platform: a technique's runs, a launch and its results; why an inject failed", {
  timeout: 90_000,
}, async () => {
  const [port = 0, trusted = 0] = await freePorts(2);
  const trust = `http://127.0.0.1:${trusted}`;
  const issuer = await startIssuer(trust, port);
  let now = Math.floor(Date.now() / 60_000) * 60_000 + 50_000;
  const sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust, now: () => (now += STEP_MS / 20) });
  const env = { PORT: String(port), BASE_URL: trust, AEV_URL: sandbox.url, AEV_PUBLIC_URL: sandbox.url };
  const emails = { operator: "operator@sallyport.example", admin: "admin@sallyport.example" };
  const product = await startProduct("aev", env, { operator: emails.operator });
  try {
    const platform = new RealPlatform(sandbox.url, issuer);
    const ask = (method: string, route: string, body?: object) =>
      platform.need(emails.admin, method, `${IN_FIRST}${route}`, body);
    const scenarios = await platform.need(emails.operator, "POST", `${IN_FIRST}/scenarios/search`, { size: 10 });
    const { content } = await ask("POST", "/attack_patterns/search", { size: 1 });
    const prepared = await prepare(ask, scenarios.content[0].scenario_id, content[0], "built-in");
    const operator = product.people.operator!;
    const { simulation, job } = await coverAndLaunch(operator, prepared);
    job.write(`aev ${job.title}`);
    now += 10 * 60_000;
    const why = await whyFailed(operator, simulation, prepared, 10);
    why.write(`aev ${why.title}`);
  } finally {
    await product.stop();
    await sandbox.close();
    await issuer.stop();
  }
});

truth("on the real platform, the same", missing, async () => {
  const stage = await startStage({
    url: settings!.AEV_REAL_URL,
    issuer: settings!.AEV_REAL_ISSUER,
    admin: process.env.AEV_REAL_ADMIN ?? "admin@example.com",
  });
  try {
    const { platform, world } = stage;
    const ask = (method: string, route: string, body?: object) =>
      platform.need(world.emails.administrator!, method, `${IN_FIRST}${route}`, body);
    const technique = await ask("GET", `/attack_patterns/${world.ids.technique1}`);
    const prepared = await prepare(ask, world.ids.twin0!, technique, world.run);
    for (const path of prepared.made) world.removeLater(FIRST, path);
    const operator = await somebodyWith(stage, "operator", NEEDED, world.ids.twin0);
    const { simulation, job } = await coverAndLaunch(operator, prepared);
    job.write(`aev ${job.title} real`);
    world.removeLater(FIRST, `/exercises/${simulation}`);
    const why = await whyFailed(operator, simulation, prepared, 5_000);
    why.write(`aev ${why.title} real`);
  } finally {
    await stopStage(stage);
  }
});
