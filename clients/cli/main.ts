import { EXIT } from "./failures.js";
import { NOUNS } from "./nouns.js";
import { readRequest } from "./program.js";
import { line, shown } from "./show.js";

// Administration from a shell: tables for people, with --json one JSON value
// (a line each, where a verb goes on) for programs; reasons on standard error,
// and an exit code that says what kind of failure it was. Only the noun that is
// named is loaded: a call takes less than a second.

try {
  const request = await readRequest(process.argv.slice(2), NOUNS);
  if (request !== undefined) {
    const { verb, input, isJson } = request;
    const { signIn } = await import("./session.js");
    const answer = verb.run(signIn(request.signIn, process.env), input);
    if (answer instanceof Promise) {
      const value = await answer;
      process.stdout.write(`${isJson ? JSON.stringify(value) : (verb.shows?.(value) ?? shown(value, verb))}\n`);
      if (verb.hasFailed?.(value)) process.exitCode = EXIT.failed;
    } else {
      for await (const row of answer) process.stdout.write(`${isJson ? JSON.stringify(row) : line(row, verb)}\n`);
    }
  }
} catch (error) {
  const { failureOf } = await import("./reasons.js");
  const { message, exitCode } = failureOf(error);
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
}
