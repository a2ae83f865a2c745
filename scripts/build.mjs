// npm run build: compiles to dist/, with the files beside the sources that are not TypeScript.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./prepare.mjs";

/** Files that the program reads at run time, by folder. */
const ASSETS = [
  "clients/packages/bridge",
  "clients/packages/icon.png",
  "proto/gen/api.binpb",
  "services/core-objects/builtin",
  "services/sandbox/cti/schema.graphql",
];

rmSync(join(ROOT, "dist"), { recursive: true, force: true });
const tsc = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
  cwd: ROOT,
  stdio: "inherit",
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
for (const asset of ASSETS) {
  if (existsSync(join(ROOT, asset))) cpSync(join(ROOT, asset), join(ROOT, "dist", asset), { recursive: true });
}
