// What is known of an MCP client. The CLI, the pages under docs/ and the console read the same.

/** A server, as a client's configuration names it. */
export interface Entry {
  readonly name: string;
  readonly url: string;
}

/** A server of the service at a base URL. @param query of its URL, with the question mark; "" for none. */
export function entryOf(baseUrl: string, server: string, query = ""): Entry {
  return { name: `sallyport-${server}`, url: `${baseUrl}/mcp/${server}${query}` };
}

/** How the key gets into a configuration: by the name of an environment variable, or as it is. */
export type Key = { readonly variable: string } | { readonly literal: string };

/** The operating systems whose paths are known. */
export type System = "macos" | "linux" | "windows";

/** A configuration file. */
export interface Place {
  /** Whose servers are in it: those of one person, or those of everybody who works in a folder. */
  readonly scope: "user" | "project";
  /** Its path. That of a project is relative to the project's folder. */
  readonly paths: Readonly<Record<System, string>>;
  /** What the file is for, or when it is read, if several files are possible. */
  readonly remark?: string;
}

/** Something to know before one uses a client. */
export interface Note {
  /** `unset`: the variable is not set. `package`: the client reads a package, and needs no fragment. */
  readonly about: "unset" | "key" | "package" | "trust" | "sign-in" | "reach" | "more";
  readonly text: string;
}

/** A link that adds a server to a client with one click. */
export interface Link {
  readonly title: string;
  readonly href: string;
}

/** Another text for the same file. */
export interface Alternative {
  /** When to take it. */
  readonly title: string;
  readonly note?: string;
  config(entries: readonly Entry[], variable: string): string;
}

/** One client that reads a configuration. */
export interface McpClient {
  readonly name: string;
  readonly title: string;
  /** Its configuration files; empty if it has none of its own. */
  readonly places: readonly Place[];
  /** Which file it reads, if it has none of its own. */
  readonly file?: string;
  readonly language: "json" | "toml";
  /** What its model is sent of a list with every turn: all tools, or the names, from which it finds those that it needs; "none" if it has no model. */
  readonly sends: "all" | "names" | "none";
  /** The most tools of all servers together that it takes. */
  readonly mostTools?: number;
  readonly notes: readonly Note[];
  /** The text of the file, if it has no servers yet. */
  config(entries: readonly Entry[], key: Key): string;
  readonly alternative?: Alternative;
  /** A command that adds a server, or tries it, from a shell; absent if there is none. */
  command?(entry: Entry, key: Key): string | undefined;
  /** Links that add a server. They take no key: a link stays in histories and logs. @param variable that a client reads the key from. */
  links?(entry: Entry, variable: string): readonly Link[];
}

/** A client in the cloud of a vendor: it takes a URL, and no configuration. */
export interface Connector {
  readonly name: string;
  readonly title: string;
  /** As of a client. It is "all" if nothing else is known: that is the most that a list costs. */
  readonly sends: McpClient["sends"];
  /** What a person does with the URL. */
  readonly steps: string;
  readonly notes: readonly Note[];
}

/** The heading of a note. */
export const ABOUT: Readonly<Record<Note["about"], string>> = {
  unset: "If the variable is not set",
  key: "The key",
  package: "With a package",
  trust: "Trust",
  "sign-in": "Sign-in",
  reach: "The URL",
  more: "Also",
};
