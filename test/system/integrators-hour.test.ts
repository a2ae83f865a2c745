import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { INTEGRATOR, integratorsPage } from "../pages/hours/integrator.js";
import { masked } from "../pages/hours/shell.js";
import { startProgram } from "../support/program.js";

test("docs/integrators-hour.md has the counts, names and messages of the service (npm run pages)", async () => {
  const page = readFileSync(INTEGRATOR, "utf8");
  const program = await startProgram();
  try {
    const now = masked(await integratorsPage(page, program));
    expect(masked(page)).toBe(now);
    const old = page.replace(/^agents \d+$/m, "agents 0").replace("core.v1.AgentService\n", "");
    expect(masked(old)).not.toBe(now);
    expect(masked(await integratorsPage(old, program))).toBe(now);
  } finally {
    await program.stop();
  }
});
