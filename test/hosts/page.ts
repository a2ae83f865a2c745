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

\`npm run -s clients:table\` wrote this page on ${day}. It runs each client from npm, with the configuration that
\`clients show\` prints ([clients.md](clients.md)), against the built-in platforms. The user is the example analyst, who
has these tools:

${table(
  ["Server", "Tools", "Bytes of `tools/list`"],
  lists.map(({ server, tools, bytes }) => [server, `${tools}`, bytes.toLocaleString("en")]),
)}

## What a turn costs

The table shows how many bytes of our servers a client sends to its model with every turn: the size of a request with
the servers in its configuration, minus the size of the same request without them. The number of tools that it sends
whole is in brackets.

- *whole*: the client sends all tools.
- *names*: the client keeps most tools out of the context and sends their names; its model searches for the tools that it needs.
- \`basic\`: the URL has \`?toolsets=basic\`.

${table(TURNS, turns)}

## What people and models read

These runs use \`cti\`. A mock model calls one tool.

| Column | Shows |
| --- | --- |
| List, Call | the answer that the model gets, or the client if it has no model |
| Wrong key, Revoked key | the text that the user reads; "our sentence" is the message of the service |
| 100 rows | how much of one long answer the model gets |
| isError | the text that the model gets if a tool refuses a call |

${table(BEHAVIOUR, behaviour)}

- Claude Code shows the message in \`claude mcp list\` and \`/mcp\`.
- Gemini CLI and Copilot CLI show their users only that the server is not connected. \`copilot --log-dir\` has the message.
- If a key is refused, mcp-remote starts to sign in: it opens a browser at the sign-in page, and waits for it.
- Inspector needs Node 22, which the script installs.
- VS Code and Cursor do not run without a screen. Their configurations follow their documentation.
`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
