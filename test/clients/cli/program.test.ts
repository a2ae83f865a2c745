import { afterEach, describe, expect, test, vi } from "vitest";
import { EXIT } from "../../../clients/cli/failures.js";
import { NOUNS } from "../../../clients/cli/nouns.js";
import { readRequest } from "../../../clients/cli/program.js";

const read = (...argv: string[]) => readRequest(argv, NOUNS);
afterEach(() => vi.restoreAllMocks());

/** What is written to standard output while something runs. */
async function written(run: () => Promise<unknown>): Promise<string> {
  let said = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    said += text;
    return true;
  });
  await run();
  vi.restoreAllMocks();
  return said;
}

describe("every verb", async () => {
  const verbs = await Promise.all(
    NOUNS.map(async ({ noun, load }) => (await load()).map((verb) => [`${noun} ${verb.verb}`, noun, verb] as const)),
  );

  test.each(verbs.flat())("%s helps, and says what each flag and argument is", async (_name, noun, verb) => {
    const help = await written(() => read(noun, verb.verb, "--help"));
    expect(help).toContain(`Usage: npm run -s cli -- ${noun} ${verb.verb}`);
    const words = help.replace(/\s+/g, " ");
    expect(words).toContain(verb.doc);
    for (const [flag, { doc, required }] of Object.entries(verb.flags ?? {})) {
      expect(words).toContain(`--${flag}`);
      expect(words).toContain(required ? `${doc} (required)` : doc);
    }
    for (const { name, doc } of verb.args ?? []) {
      expect(words).toContain(`<${name}`);
      expect(words).toContain(doc);
    }
  });
});

test("what is given is read, with the common flags", async () => {
  const request = await read("keys", "create", "--user", "a@b.org", "--name", "n", "--json", "--url", "http://h");
  expect(request).toMatchObject({
    input: { flags: { user: "a@b.org", name: "n", expires: undefined } },
    signIn: { url: "http://h", key: undefined },
    isJson: true,
  });
  expect((await read("groups", "add", "G", "a@b.org", "c@d.org"))?.input.args).toEqual({
    GROUP: "G",
    USER: "a@b.org c@d.org",
  });
});

test.each([
  ["nothing", [], /Usage: .*NOUN VERB[\s\S]*users[\s\S]*Exit codes/],
  ["a noun alone", ["keys"], /Usage: .*keys VERB[\s\S]*rotate/],
  ["an unknown noun", ["userz", "list"], /unknown command 'userz'[\s\S]*users/],
  ["an unknown verb", ["users", "creat"], /unknown command 'creat'[\s\S]*create/],
  ["every missing flag", ["users", "create"], /--email .*--name /],
  ["an unknown flag", ["users", "list", "--josn"], /unknown option '--josn'[\s\S]*--json/],
  ["a missing argument", ["keys", "revoke"], /ID/],
  ["one argument too many", ["keys", "revoke", "a", "b"], /too many arguments/],
  ["a value that is no choice", ["settings", "set", "core", "maybe"], /on, off/],
] as const)("%s is told by name", async (_what, argv, said) => {
  await expect(read(...argv)).rejects.toMatchObject({ message: expect.stringMatching(said), exitCode: EXIT.usage });
});

test("only the noun that is named is loaded", async () => {
  const loaded: string[] = [];
  const spied = NOUNS.map((noun) => ({
    ...noun,
    load: () => {
      loaded.push(noun.noun);
      return noun.load();
    },
  }));
  await readRequest(["settings", "get"], spied);
  expect(loaded).toEqual(["settings"]);
});
