import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from "vitest/node";

/** Where the groups of skipped tests are listed, each with its file: too many lines for a terminal. */
const LIST = "node_modules/.vitest/skipped.txt";

/** Shows how many tests were skipped for each reason and lists them in a file; without a reason a run is not green. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default class SkippedReporter implements Reporter {
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return;
    const groups = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const group = `${relative(process.cwd(), module.moduleId)}: ${groupOf(test)}`;
        groups.set(group, (groups.get(group) ?? 0) + 1);
      }
    }
    if (groups.size === 0) return;
    mkdirSync(dirname(LIST), { recursive: true });
    writeFileSync(LIST, linesOf(groups));
    const reasons = new Map<string, number>();
    for (const [group, count] of groups) {
      const reason = /\(skipped: (.*)\)/.exec(group)?.[1] ?? "no reason";
      reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    }
    process.stdout.write(`\n skipped, listed in ${LIST}:\n${linesOf(reasons)}`);
    const silent = [...groups.keys()].filter((group) => !group.includes("(skipped: "));
    if (silent.length === 0) return;
    process.stderr.write(`\n No reason is given for ${silent.join("; ")}: see test/support/titled.ts\n`);
    process.exitCode = 1;
  }
}

/** A line each: how many, and of what. */
function linesOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `  ${String(count).padStart(4)}  ${what}\n`).join("");
}

/** The outermost group that is skipped for a reason, or the test itself. */
function groupOf(test: TestCase): string {
  const above: string[] = [];
  for (let at: TestSuite | TestModule = test.parent; at.type === "suite"; at = at.parent) above.unshift(at.name);
  const note = noteOf(test);
  return above.find((name) => name.includes("(skipped: ")) ?? (note ? `${test.name} (skipped: ${note})` : test.name);
}

function noteOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === "skipped" ? result.note : undefined;
}
