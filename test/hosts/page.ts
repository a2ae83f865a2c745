import { SERVERS } from "../../services/shared/platforms.js";

/** The page, relative to the root of the project. */
export const PAGE = "docs/clients-seen.md";

/** What the page has. */
export interface Seen {
  /** The day of the run: YYYY-MM-DD. */
  readonly day: string;
  /** The tools that the caller has on each server, and their bytes in tools/list. */
  readonly lists: readonly { readonly server: string; readonly tools: number; readonly bytes: number }[];
  readonly behaviour: readonly (readonly string[])[];
  readonly turns: readonly (readonly string[])[];
}

const BEHAVIOUR = ["Client", "List", "Call", "Wrong key", "Revoked key", "100 rows", "isError"];
const TURNS = ["Client", "Sends", ...[...SERVERS, "all four"].flatMap((name) => [name, "`basic`"])];

/** docs/clients-seen.md. */
export function pageOf({ day, lists, behaviour, turns }: Seen): string {
  return `# What real clients show

Written by \`npm run -s clients:table\` on ${day}. Each client comes from npm and has the
configuration that \`clients show\` prints ([clients.md](clients.md)). It runs against the built-in
platforms, as the example analyst, who has these tools:

${table(
  ["Server", "Tools", "Bytes of `tools/list`"],
  lists.map(({ server, tools, bytes }) => [server, `${tools}`, bytes.toLocaleString("en")]),
)}

## What a turn costs

What a client sends its model of our servers with every turn, in bytes: the request of one turn with
the servers in its configuration, less the same request without them. In brackets: the tools that it
sends whole. *whole*: it sends every tool. *names*: it keeps tools out of the context, sends their
names, and the model searches them. \`basic\`: with \`?toolsets=basic\`.

${table(TURNS, turns)}

## What people and models read

On \`cti\`. A model of a few lines calls one tool. *List* and *Call*: what the model, or the client
itself, gets. *Wrong key* and *Revoked key*: what the user reads. *100 rows*: how much of one long
answer the model gets. *isError*: whether the model reads why a tool refused.

${table(BEHAVIOUR, behaviour)}

Claude Code shows the reason in \`claude mcp list\` and \`/mcp\`. Gemini CLI and Copilot CLI only say
that the server is not connected, whatever it answers; \`copilot --log-dir\` has our sentence. If a key
is refused, mcp-remote tries to sign in, and shows the answer to that. Inspector needs Node 22, which
the script installs. VS Code and Cursor need a screen, so they are not here: their configurations
follow their documentation.
`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
