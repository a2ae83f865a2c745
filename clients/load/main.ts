import { writeFileSync } from "node:fs";
import { EXIT, Failure } from "../cli/failures.js";
import { readCommandLine } from "./command-line.js";
import { pageOf } from "./report/page.js";
import { run } from "./run.js";
import { summaryOf } from "./summary.js";

// Load tests from a shell: the figures on standard output, reports in files,
// and an exit code that says whether the thresholds hold.

try {
  const asked = readCommandLine(process.argv.slice(2), process.env);
  if (asked !== undefined) {
    const { scenario, outputs } = asked;
    const stop = new AbortController();
    // A second signal ends the process.
    process.once("SIGINT", () => stop.abort()).once("SIGTERM", () => stop.abort());
    const report = await run(scenario, process.stdout, stop.signal);
    if (outputs.json !== undefined) write(outputs.json, `${JSON.stringify(report, null, 2)}\n`);
    if (outputs.html !== undefined) write(outputs.html, pageOf(report));
    process.stdout.write(summaryOf(report));
    if (report.isInterrupted || report.thresholds.some(({ holds }) => !holds)) process.exitCode = EXIT.failed;
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof Failure ? error.exitCode : EXIT.failed;
}

function write(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Failure(
      `The report could not be written: ${(error as Error).message}. Give the name of a file in a folder that exists.`,
    );
  }
}
