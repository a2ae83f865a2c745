import { parseArgs } from "node:util";
import type { Command, Input } from "./command.js";
import { UsageError } from "./usage-error.js";

/** What was given on a command line. */
export interface Parsed {
  readonly command: Command;
  readonly input: Input;
  readonly url: string | undefined;
  readonly key: string | undefined;
}

/** Flags that every command takes. */
const COMMON = {
  url: { type: "string" as const },
  key: { type: "string" as const },
  // Output is always JSON; the flag is taken so that scripts may say so.
  json: { type: "boolean" as const },
};

/** Reads `NOUN VERB …`. @throws UsageError that says how the command is used. */
export function parseCommand(argv: readonly string[], commands: readonly Command[]): Parsed {
  const [noun, verb, ...rest] = argv;
  const command = commands.find((one) => one.noun === noun && one.verb === verb);
  if (command === undefined) throw new UsageError(usage(commands));
  const own = Object.fromEntries(
    Object.entries(command.flags).map(([name, { isSwitch }]) => [
      name,
      { type: isSwitch ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  let values: Record<string, string | boolean | undefined>;
  let positionals: string[];
  try {
    ({ values, positionals } = parseArgs({
      args: rest,
      options: { ...COMMON, ...own },
      allowPositionals: true,
    }) as never);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage([command])}`);
  }
  const missing = Object.entries(command.flags).filter(
    ([name, { required }]) => required && values[name] === undefined,
  );
  if (missing.length > 0 || positionals.length !== command.positionals.length) throw new UsageError(usage([command]));
  const { url, key, json: _json, ...flags } = values;
  return {
    command,
    url: url as string | undefined,
    key: key as string | undefined,
    input: {
      args: Object.fromEntries(command.positionals.map((name, i) => [name, positionals[i] as string])),
      flags: Object.fromEntries(
        Object.entries(flags).map(([name, value]) => [name, value === undefined ? undefined : String(value)]),
      ),
    },
  };
}

/** How the commands of a noun are used, or all of them where none is named. */
export function helpOf(argv: readonly string[], commands: readonly Command[]): string {
  const named = commands.filter(({ noun }) => noun === argv[0]);
  return usage(named.length > 0 ? named : commands);
}

function usage(commands: readonly Command[]): string {
  const lines = commands.map(({ noun, verb, positionals, flags, doc }) => {
    const options = Object.entries(flags).map(([name, { required, isSwitch }]) => {
      const flag = isSwitch ? `--${name}` : `--${name} ${name.toUpperCase()}`;
      return required ? flag : `[${flag}]`;
    });
    return `  ${[noun, verb, ...positionals, ...options].join(" ")}\n      ${doc}`;
  });
  return `usage: npm run -s cli -- NOUN VERB … [--url URL --key API_KEY]\n${lines.join("\n")}`;
}
