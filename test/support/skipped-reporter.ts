import { relative } from "node:path";
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from "vitest/node";

/** Tells at the end of a run what was skipped and why, a line for each group of tests; without a reason a run is not green. */
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
    const lines = [...groups].map(([group, count]) => `  ${String(count).padStart(4)}  ${group}`);
    process.stdout.write(`\n skipped:\n${lines.join("\n")}\n`);
    const silent = [...groups.keys()].filter((group) => !group.includes("(skipped: "));
    if (silent.length === 0) return;
    process.stderr.write(`\n No reason is given for ${silent.join("; ")}: see test/support/titled.ts\n`);
    process.exitCode = 1;
  }
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
