// npm test: brings the checkout up to date, then runs the test suite.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { prepareOrExit, ROOT } from "./prepare.mjs";

prepareOrExit();
// Processes and threads that tests start run what is built, which starts sooner than the sources.
process.env.TESTS_BUILT = join(ROOT, "dist");
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: "inherit",
});
process.exit(status ?? 1);
