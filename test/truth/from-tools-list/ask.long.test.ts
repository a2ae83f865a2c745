import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, startProgram } from "../../support/program.js";
import { ask } from "./ask.js";
import { newCaller } from "./caller.js";

// Each list of each server against all of its rows, and each argument of the tools
// that read at its edges, over the built-in platforms: see main.ts for real ones.

/** What is as it is meant, by tool: a call, and why. */
const MEANT: Readonly<Record<string, readonly [RegExp, string][]>> = {
  inspect_simulation_comparison: [[/other_simulation_id/, "no second simulation is looked for"]],
  list_attack_patterns: [[/in which it does not stand/, "of several words the platform finds any"]],
  list_container_objects: [
    [/uses|Rus/, "rows of relationships say what they join; names are searched, and types those of objects"],
    [/\[T1|in which it does not stand/, "of several words the platform finds any"],
  ],
  list_documents: [[/"sample"/, "there is no knowledge base"]],
  list_findings: [[/"order_by":"score"/, "only findings of type cve have a score"]],
  list_requirement_assessments: [[/with_headings/, "headings are rows too"]],
  list_run_steps: [[/"sample"/, "there is no run"]],
};
/** Of several words the platform finds any. */
const ANY_WORD = /in which it does not stand/;

let program: Program;
beforeAll(async () => {
  program = await startProgram({ env: { CALLS_PER_MINUTE: "1000000" } });
});
afterAll(() => program?.stop());

test.each(["core", "grc", "aev", "cti"])(
  "%s: every list and every edge is answered right",
  { timeout: 1_800_000 },
  async (server) => {
    const { email, api_key } = program.bootstrap.admin;
    const caller = await newCaller(program.baseUrl, server, "admin", email, api_key);
    const found: string[] = [];
    const calls = await ask(caller, /./, "lists,edges", ({ tool, args, what }) => {
      const line = `${tool} ${JSON.stringify(args)}: ${what}`;
      const isMeant =
        (MEANT[tool] ?? []).some(([pattern]) => pattern.test(line)) || (server === "cti" && ANY_WORD.test(line));
      if (!isMeant) found.push(line);
    });
    expect(calls).toBeGreaterThan(500);
    expect(found).toEqual([]);
  },
);
