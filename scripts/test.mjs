// npm test: brings the checkout up to date, then runs the test suite.

import { spawnSync } from "node:child_process";
import { prepareOrExit, ROOT } from "./prepare.mjs";

prepareOrExit();
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: "inherit",
});
process.exit(status ?? 1);
