// npm run compile: compiles each module by itself to build/, those of tests included. Benches measure parts of the
// program there.

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { copyAssets } from "./assets.mjs";
import { ROOT } from "./prepare.mjs";

rmSync(join(ROOT, "build"), { recursive: true, force: true });
// Types are checked by npm run typecheck.
const { status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "--noCheck"], {
  cwd: ROOT,
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);
copyAssets("build");
