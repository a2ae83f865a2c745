import { afterAll, beforeAll, describe, expect } from "vitest";
import { realPlatform, truth } from "../frame/real.js";
import { Verdicts } from "../frame/table.js";
import { analysisTruths } from "./rows/analysis.js";
import { assetTruths } from "./rows/assets.js";
import { catalogueTruths } from "./rows/catalogue.js";
import { changeTruths } from "./rows/changes.js";
import { contentTruths } from "./rows/content.js";
import { listTruths } from "./rows/lists.js";
import { objectTruths } from "./rows/objects.js";
import { questionnaireTruths } from "./rows/questionnaires.js";
import { racedTruths } from "./rows/raced.js";
import { runTruths } from "./rows/runs.js";
import { strangerTruths } from "./rows/strangers.js";
import { writeTruths } from "./rows/writes.js";
import { personOf, type Stage, startStage, stopStage } from "./stage.js";
import { PEOPLE } from "./world.js";

const { settings, missing } = realPlatform("AEV_REAL_URL", "AEV_REAL_ISSUER");

const TRUTHS = [
  ...listTruths,
  ...objectTruths,
  ...writeTruths,
  ...strangerTruths,
  ...assetTruths,
  ...catalogueTruths,
  ...contentTruths,
  ...runTruths,
  ...changeTruths,
  ...analysisTruths,
  ...questionnaireTruths,
  ...racedTruths,
];

let stage: Stage;
const verdicts = new Verdicts();

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage({
    url: settings.AEV_REAL_URL,
    issuer: settings.AEV_REAL_ISSUER,
    admin: process.env.AEV_REAL_ADMIN ?? "admin@example.com",
  });
}, 300_000);

afterAll(async () => {
  if (stage === undefined) return;
  verdicts.write(PEOPLE);
  await stopStage(stage);
}, 120_000);

truth("every tool of aev has a row", missing, async () => {
  const known = new Set(TRUTHS.map(({ tool }) => tool));
  expect((await personOf(stage, "administrator").tools()).filter((tool) => !known.has(tool))).toEqual([]);
});

for (const { tool, cases } of TRUTHS) {
  describe(tool, () => {
    for (const one of cases) {
      for (const person of one.as) {
        truth(`${one.about}, as ${person}`, missing, () =>
          verdicts.prove(tool, one, stage, person).finally(() => stage.world.tidy()),
        );
      }
    }
  });
}

/** What a row may have, in bytes of JSON: half of them, and 95 of 100. */
const MEDIAN_BYTES = 250;
const P95_BYTES = 500;
/** What a page may have where nothing is said of its size. */
const PAGE_BYTES = 10_240;

truth("rows of real lists are short, and so are pages", missing, async () => {
  const rows: number[] = [];
  const long: string[] = [];
  for (const [tool, { person, reading }] of stage.firsts) {
    const { result } = await personOf(stage, person).ask(tool, reading.args ?? {});
    const bytes = Buffer.byteLength(JSON.stringify(result ?? ""));
    if (bytes >= PAGE_BYTES) long.push(`${tool}: a page of ${bytes}`);
    rows.push(...((result?.[reading.rows] ?? []) as unknown[]).map((row) => Buffer.byteLength(JSON.stringify(row))));
  }
  rows.sort((a, b) => a - b);
  const at = (share: number): number => rows[Math.floor(share * rows.length)] ?? 0;
  verdicts.note(
    `${stage.firsts.size} lists, ${rows.length} rows: median ${at(0.5)}, 95th percentile ${at(0.95)} bytes`,
  );
  expect(long).toEqual([]);
  expect(at(0.5)).toBeLessThanOrEqual(MEDIAN_BYTES);
  expect(at(0.95)).toBeLessThanOrEqual(P95_BYTES);
});
