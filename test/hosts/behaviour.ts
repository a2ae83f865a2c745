// What each client does with one server: the tools and the answers that its model is
// shown, and what its user reads of a bad key.

import { entryOf } from "../../clients/packages/mcp-clients.js";
import type { Host } from "./hosts.js";
import type { Wish } from "./model.js";
import { type Outcome, runHost } from "./run.js";

const WHOAMI: Wish = { tool: "whoami", arguments: {} };
const ROWS: Wish = { tool: "list_observables", arguments: { page_size: 100 } };
const MISSING: Wish = { tool: "get_entity", arguments: { object_id: "00000000-0000-4000-8000-000000000000" } };

/** The service that the clients are tried against. */
export interface Service {
  readonly baseUrl: string;
  /** A key that works. */
  readonly key: string;
  readonly revoked: string;
}

/** A host and its version. */
export const titleOf = ({ name, packages }: Pick<Host, "name" | "packages">): string =>
  `${name} ${(packages.at(-1) as string).replace(/.*@/, "")}`;

/** What a user reads of a refusal: our sentence, or the line that comes nearest. */
function readOf({ output: said, result, logs = "" }: Outcome, sentence: RegExp): string {
  const flat = `${said}\n${result ?? ""}`.replace(/\s+/g, " ");
  if (sentence.test(flat)) return "our sentence";
  if (sentence.test(logs.replace(/\s+/g, " "))) return "nothing; our sentence is in its log";
  const line = said.split("\n").find((one) => /\b401\b|reject|denied|fail|error|disconnect/i.test(one));
  return line === undefined
    ? "nothing"
    : `"${line
        .trim()
        .replace(/http:\/\/\S+/, "URL")
        .slice(0, 120)}"`;
}

const answered = ({ result, output: said }: Outcome): string =>
  result?.includes("analyst@sallyport.example") ? "answered" : `not answered: ${said.trim().slice(-160)}`;

/** A row of the table of behaviour. @param folder where the host is installed. */
export async function behaviourOf(host: Host, folder: string, { baseUrl, key, revoked }: Service): Promise<string[]> {
  const entries = [entryOf(baseUrl, "cti")];
  const run = (own: string, wish: Wish, isWritten = false) =>
    runHost(host, folder, { entries, key: own, wish, isWritten });
  const call = await run(key, WHOAMI);
  const written = await run(key, WHOAMI, true);
  const rows = await run(key, ROWS);
  const missing = await run(key, MISSING);
  const wrong = await run("nothing", WHOAMI);
  const ended = await run(revoked, WHOAMI);
  if (process.env.SHOW !== undefined)
    process.stderr.write(`${JSON.stringify({ call, missing, wrong, ended }, null, 1)}\n`);
  return [
    titleOf(host),
    `${call.tools} tools`,
    `${answered(call)}; without a variable ${answered(written)}`,
    readOf(wrong, /neither an API key nor an access token/),
    readOf(ended, /was revoked: create a new API key/),
    rows.result === undefined
      ? "not answered"
      : `${rows.result.length} characters, ${rows.result.match(/[^_]id\W+[0-9a-f]{8}-/g)?.length ?? 0} rows`,
    missing.result?.includes("exists or is visible to you")
      ? "our sentence"
      : `"${(missing.result ?? "nothing").slice(0, 120)}"`,
  ];
}
