import type { Entry, Link } from "./client.js";
import { authorization, EDITOR } from "./spellings.js";

// Links that add a server to an editor. They never have a key: browsers keep links, and send them on.

/** The id by which VS Code remembers what it asked: the name of the variable in its own spelling. */
export function inputId(variable: string): string {
  return variable.toLowerCase().replaceAll("_", "-");
}

/** What VS Code asks. */
export function promptFor(variable: string): object {
  return { type: "promptString", id: inputId(variable), description: "Service API key", password: true };
}

/** A server in VS Code's spelling, with the answer to the prompt as its key. */
export function prompted({ url }: Pick<Entry, "url">, variable: string): object {
  return { type: "http", url, headers: authorization({ variable }, (name) => `\${input:${inputId(name)}}`) };
}

/** Links for VS Code: it reads `JSON.parse(decodeURIComponent(query))`. */
export function vscodeLinks(entry: Entry, variable: string): readonly Link[] {
  const server = { name: entry.name, ...prompted(entry, variable), inputs: [promptFor(variable)] };
  // A percent sign as JSON's escape: it stays the same however often the link is decoded.
  const query = encodeURIComponent(JSON.stringify(server).replaceAll("%", "\\u0025"));
  return [
    { title: "Add to VS Code", href: `vscode:mcp/install?${query}` },
    { title: "Add to VS Code Insiders", href: `vscode-insiders:mcp/install?${query}` },
  ];
}

/** The link for Cursor: the base64 of what is inside its `mcpServers.NAME`. */
export function cursorLinks({ name, url }: Entry, variable: string): readonly Link[] {
  const config = base64(JSON.stringify({ url, headers: authorization({ variable }, EDITOR) }));
  const query = `name=${encodeURIComponent(name)}&config=${encodeURIComponent(config)}`;
  return [{ title: "Add to Cursor", href: `cursor://anysphere.cursor-deeplink/mcp/install?${query}` }];
}

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
