import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../../../../../hold/fuzz/random.js";
import { acknowledgedIn, missingOf } from "../acknowledged.js";
import { imageAfter, type Unsure, writeImage } from "./image.js";
import { type Step, stepsIn } from "./trace.js";

// Run as a process of its own, since a damaged store can end it: makes images of a trace at points of chance, opens each
// and says what is missing. It says each image before it opens it, so that the last line names the culprit. With
// "unsynced" as the last argument it takes nothing for synced: then something must be missing.

const UNSURE: readonly Unsure[] = ["lost", "chosen", "torn"];

const [trace, folder, work, count, seed, how] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string?,
];
const all = stepsIn(readFileSync(trace, "utf8"), folder);
const steps = how === "unsynced" ? all.flatMap(unsynced) : all;
const random = new Random(Number(seed));
const chance = (): number => random.int(2 ** 30) / 2 ** 30;
// From the first write that was acknowledged on: before it there is nothing to lose.
const first = steps.findIndex(({ what }) => what === "said");
const kinds = (what: string): number => steps.filter((step) => step.what === what).length;
process.stdout.write(`steps: ${kinds("written")} written, ${kinds("sync ended")} synced, ${kinds("said")} said\n`);
for (let n = 0; n < Number(count); n++) {
  const point = first + 1 + random.int(steps.length - first);
  const unsure = UNSURE[n % UNSURE.length]!;
  const { files, said } = imageAfter(steps.slice(0, point), unsure, chance);
  const image = join(work, `image-${n}`);
  writeImage(files, image);
  process.stdout.write(`image ${n}: step ${point}, ${unsure}, ${said.length} acknowledged\n`);
  const missing = await missingOf(image, said.map(acknowledgedIn)).catch((error: Error) => [error.message]);
  if (missing.length > 0) process.stdout.write(`not whole ${n}: ${missing.slice(0, 5).join("; ")}\n`);
  else rmSync(image, { recursive: true });
}
process.stdout.write("done\n");

function unsynced(step: Step): readonly Step[] {
  if (step.what === "written") return [{ ...step, isSure: false }];
  return step.what.startsWith("sync") ? [] : [step];
}
