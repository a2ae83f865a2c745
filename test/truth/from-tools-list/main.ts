// Asks all tools of a server with what tools/list says and nothing else:
// npm run test:from-tools-list -- SERVER [TOOLS [lists,edges,writes,races]]
//
// PRODUCT_URL and PEOPLE (a file: names to e-mail addresses and keys) name a product in front of a real platform, AS some
// of the people; without them, the product is started with its built-in platforms.

import { readFileSync } from "node:fs";
import { type Program, startProgram } from "../../support/program.js";
import { ask } from "./ask.js";
import { newCaller } from "./caller.js";
import type { Finding } from "./edges.js";

type People = Readonly<Record<string, { readonly email: string; readonly key: string }>>;

const [server = "grc", only = ".", parts = "lists,edges"] = process.argv.slice(2);
const say = (text: string): unknown => process.stdout.write(`${text}\n`);
const { PRODUCT_URL, PEOPLE, AS } = process.env;
const program = PRODUCT_URL === undefined ? await startProgram({ env: { CALLS_PER_MINUTE: "1000000" } }) : undefined;
const people = program === undefined ? (JSON.parse(readFileSync(PEOPLE!, "utf8")) as People) : peopleOf(program);
try {
  for (const name of (AS ?? Object.keys(people)[0]!).split(",")) {
    const { email, key } = people[name]!;
    const caller = await newCaller(PRODUCT_URL ?? program!.baseUrl, server, name, email, key);
    say(`# ${server} as ${name}: ${caller.tools.length} tools`);
    const told = ({ tool, args, what }: Finding): unknown => say(`${tool} ${JSON.stringify(args)}: ${what}`);
    const calls = await ask(caller, new RegExp(`^(?:${only})`), parts, told);
    say(`# ${calls} calls`);
  }
} finally {
  await program?.stop();
}

function peopleOf({ bootstrap: { admin, analyst } }: Program): People {
  return { admin: { email: admin.email, key: admin.api_key }, analyst: { email: analyst.email, key: analyst.api_key } };
}
