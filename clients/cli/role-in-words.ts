import { isPlatformServer, platformOf } from "../../services/shared/platforms.js";
import { type Role, type RoleRight, wordsOf } from "../../services/shared/roles/role.js";

/** A role for people: the boxes to tick, what each is for, and the steps. */
export function roleInWords(role: Role & { readonly query: string }): string {
  const { server, tools, scopes, rights, builtIn, query } = role;
  const head = [
    `${tools.length} tools of ${server}, at /mcp/${server}${query}`,
    `scopes of the API key: ${scopes.join(", ") || "none: the URL leaves no tool"}`,
  ];
  if (!isPlatformServer(server)) {
    return [...head, "", `No platform is behind ${server}: objects have owners, who share them.`].join("\n");
  }
  const { product } = platformOf(server).about;
  if (rights.length === 0)
    return [...head, "", `${product}: these tools need no right; an account is enough.`].join("\n");
  const { steps, notes } = wordsOf(server);
  return [
    ...head,
    "",
    `Role on ${product}. [x] tick it; [+] ${product} adds it; [!] it has no box:`,
    ...rights.flatMap(linesOf),
    ...(builtIn === undefined ? [] : ["", `Its own role "${builtIn}" has all of them.`]),
    "",
    ...steps.map((step, at) => `${at + 1}. ${plain(step)}`),
    ...notes.map((note) => `- ${plain(note)}`),
  ].join("\n");
}

/** Names of tools that a line shows; --json has all. */
const SHOWN = 4;

function linesOf({ id, label, under, impliedBy, tools }: RoleRight): string[] {
  const box = impliedBy !== undefined ? "[+]" : label === undefined ? "[!]" : "[x]";
  const named = tools.slice(0, SHOWN).join(", ");
  const more = tools.length > SHOWN ? ` and ${tools.length - SHOWN} more` : "";
  const path = label === undefined ? "" : ` ${[...under, label].join(" > ")}`;
  const first = `  ${box}${path} (${id})`;
  return tools.length === 0 ? [first] : [first, `      for ${named}${more}`];
}

/** Without the marks of Markdown. */
const plain = (text: string): string => text.replaceAll(/\*\*|`|(?<!\w)\*|\*(?!\w)/g, "");
