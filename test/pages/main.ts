// npm run pages: writes the pages that show what a program answered, from a program that it starts.

import { readFileSync, writeFileSync } from "node:fs";
import { startProgram } from "../support/program.js";
import { ANALYSTS, analystsPage } from "./analysts/page.js";
import { ADMINISTRATOR, administratorsPage } from "./hours/administrator.js";
import { INTEGRATOR, integratorsPage } from "./hours/integrator.js";
import { DIRECTORY, directoryPage } from "./hours/reviewer.js";

const program = await startProgram();
try {
  writeFileSync(ANALYSTS, await analystsPage(program));
  writeFileSync(INTEGRATOR, await integratorsPage(readFileSync(INTEGRATOR, "utf8"), program));
} finally {
  await program.stop();
}
writeFileSync(ADMINISTRATOR, await administratorsPage());
writeFileSync(DIRECTORY, await directoryPage(readFileSync(DIRECTORY, "utf8")));
