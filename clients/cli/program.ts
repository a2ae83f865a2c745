import { Argument, Command, CommanderError, Option } from "commander";
import type { Input, Noun, Verb } from "./command.js";
import { UsageError } from "./failures.js";
import type { SignIn } from "./session.js";

/** What a command line asks for. */
export interface Request {
  readonly verb: Verb;
  readonly input: Input;
  readonly signIn: SignIn;
  /** For programs: JSON, and nothing else, on standard output. */
  readonly isJson: boolean;
}

const NAME = "npm run -s cli --";
const EXITS = `
Exit codes:
  0  done
  1  failed
  2  the command line, or a value in it, is wrong
  3  not signed in, or not allowed
  4  not found
  5  conflict, such as a name that is taken
  6  the service did not answer in time: try again`;

/**
 * Reads `NOUN VERB …`. Help is written to standard output.
 *
 * @returns undefined where only help was asked for.
 * @throws UsageError that says what is wrong, all missing flags by name.
 */
export async function readRequest(argv: readonly string[], nouns: readonly Noun[]): Promise<Request | undefined> {
  const program = commandOf("cli", "Administration of the service from a shell.");
  program.name(NAME).usage("NOUN VERB [options]").addHelpText("after", EXITS);
  let request: Request | undefined;
  for (const { noun, doc, load } of nouns) {
    const own = commandOf(noun, doc).usage("VERB [options]");
    program.addCommand(own);
    if (argv.find((word) => !word.startsWith("-")) !== noun) continue;
    for (const verb of await load()) {
      own.addCommand(
        verbCommand(verb, (made) => {
          request = made;
        }),
        { isDefault: verb.isDefault ?? false },
      );
    }
  }
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    // Nothing, or a noun alone: what can follow it is all there is to say.
    const isIncomplete = error.code === "commander.help";
    throw new UsageError(isIncomplete ? helpOf(program, argv) : error.message.replace(/^error: /, ""));
  }
  return request;
}

function helpOf(program: Command, argv: readonly string[]): string {
  const own = program.commands.find((one) => one.name() === argv[0]);
  return own === undefined ? `${program.helpInformation()}${EXITS}` : own.helpInformation().trimEnd();
}

function commandOf(name: string, doc: string): Command {
  return new Command(name)
    .description(doc)
    .helpOption("-h, --help", "Show this help.")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, outputError: () => undefined });
}

function verbCommand(verb: Verb, take: (request: Request) => void): Command {
  const { args = [], flags = {} } = verb;
  const command = commandOf(verb.verb, verb.doc).summary(verb.doc.split(/[.:;] /, 1)[0] as string);
  for (const { name, doc, choices, isMany } of args) {
    const argument = new Argument(isMany ? `<${name}...>` : `<${name}>`, doc);
    if (choices !== undefined) argument.choices(choices);
    command.addArgument(argument);
  }
  for (const [name, { doc, required, isSwitch, choices }] of Object.entries(flags)) {
    const shown = isSwitch ? `--${name}` : `--${name} <${(choices ?? [name]).join("|").toUpperCase()}>`;
    const option = new Option(choices === undefined ? shown : `--${name} <${choices.join("|")}>`, doc);
    if (choices !== undefined) option.choices(choices);
    if (required) option.description = `${doc} (required)`;
    command.addOption(option);
  }
  command
    .addOption(new Option("--json", "Print JSON, for programs."))
    .addOption(new Option("--url <URL>", "The URL of the service; read from DATA_DIR/bootstrap.json if omitted."))
    .addOption(
      new Option("--key <KEY>", "An API key; the first administrator's, from DATA_DIR/bootstrap.json, if omitted."),
    );
  return command.action((...given: unknown[]) => {
    const values = command.opts<Record<string, string | boolean | undefined>>();
    const textOf = (name: string): string | undefined => {
      const value = values[camelOf(name)];
      return value === undefined ? undefined : String(value);
    };
    const missing = Object.entries(flags).filter(([name, { required }]) => required && textOf(name) === undefined);
    if (missing.length > 0) {
      const named = missing.map(([name, { doc }]) => `--${name} (${doc})`).join(", ");
      throw new UsageError(`missing: ${named}`);
    }
    const places = args.map(({ name }, i) => [name, [given[i]].flat().join(" ")] as const);
    take({
      verb,
      input: {
        args: Object.fromEntries(places),
        lists: Object.fromEntries(args.map(({ name }, i) => [name, [given[i]].flat().map(String)])),
        flags: Object.fromEntries(Object.keys(flags).map((name) => [name, textOf(name)])),
      },
      signIn: { url: textOf("url"), key: textOf("key") },
      isJson: values.json === true,
    });
  });
}

const camelOf = (flag: string): string => flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
