import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./prepare.mjs";

/** Files that the program reads at run time and that are no modules, by folder. */
const ASSETS = [
  "clients/load/report/drawing.js",
  "clients/load/report/page.css",
  "clients/load/report/plots.js",
  "clients/packages/bridge",
  "clients/packages/icon.png",
  "proto/gen/api.binpb",
  "services/core-objects/builtin",
  "services/sandbox/cti/schema.graphql",
];

/** Copies them to the same places in a folder of this checkout. */
export function copyAssets(folder) {
  for (const asset of ASSETS) {
    if (existsSync(join(ROOT, asset))) cpSync(join(ROOT, asset), join(ROOT, folder, asset), { recursive: true });
  }
}
