import { ConnectError } from "@connectrpc/connect";
import { helpOf, parseCommand } from "./arguments.js";
import { keys } from "./commands/keys.js";
import { platforms } from "./commands/platforms.js";
import { settings } from "./commands/settings.js";
import { ToolError, tools } from "./commands/tools.js";
import { users } from "./commands/users.js";
import { signIn } from "./session.js";
import { UsageError } from "./usage-error.js";

// Administration from a shell: one JSON value on standard output, reasons on
// standard error, exit code 0 or 1; with --help the usage on standard output.

const COMMANDS = [...users, ...keys, ...settings, ...platforms, ...tools];

const argv = process.argv.slice(2);
try {
  if (argv.includes("--help")) {
    process.stdout.write(`${helpOf(argv, COMMANDS)}\n`);
  } else {
    const { command, input, url, key } = parseCommand(argv, COMMANDS);
    const result = await command.run(signIn({ url, key }, process.env), input);
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}

function reasonOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof ToolError) return error.message;
  if (error instanceof ConnectError) return error.rawMessage;
  const { message, cause } = error as Error;
  const code = (cause as { code?: string } | undefined)?.code;
  return code === "ECONNREFUSED" ? "the service does not answer: is it running at that URL?" : message;
}
