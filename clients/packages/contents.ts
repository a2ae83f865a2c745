/** A tool, as the person who gets the package has it. */
export interface PackageTool {
  readonly name: string;
  readonly description: string;
  readonly readOnly: boolean;
  readonly toolset: string;
}

/** What a package is made of. The same makes the same package, byte for byte. */
export interface Contents {
  /** The server: cti, aev, grc or core. */
  readonly server: string;
  /** The name of the deployment that its users see. Ids do not follow it. */
  readonly serviceName: string;
  /** What the server is about, in words. */
  readonly subject: string;
  /** What people ask of these tools, in their words; [] where that is not known. */
  readonly topics: readonly string[];
  /** The endpoint's URL, with the query that narrows it. */
  readonly url: string;
  readonly tools: readonly PackageTool[];
  /** Hand-written guidance: sentences in Markdown, in order; [] for none. */
  readonly guidance: readonly string[];
  /** MAJOR.MINOR.PATCH of the service. */
  readonly serviceVersion: string;
  /** The service's public base URL. */
  readonly homepage: string;
  /** The API key to write in; undefined if the client asks for one. */
  readonly key: string | undefined;
}

/** The files of a package, by path. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The name of a server's package, skill and entry. It never changes: a client updates a plugin by its name. */
export function nameOf({ server }: Pick<Contents, "server">): string {
  return `sallyport-${server}`;
}

/** Servers whose names are words; the others are abbreviations. */
const WORDS: Readonly<Record<string, string>> = { core: "Core" };

/** What people call it. */
export function titleOf({ server, serviceName }: Pick<Contents, "server" | "serviceName">): string {
  return `${serviceName} ${WORDS[server] ?? server.toUpperCase()}`;
}

/** What it is, in one line. */
export function summaryOf({ subject, serviceName }: Pick<Contents, "subject" | "serviceName">): string {
  return `Tools for ${subject} on ${serviceName}. Every call runs as you, with your rights.`;
}

/** Where people create and revoke keys. */
export function keysPageOf({ homepage }: Pick<Contents, "homepage">): string {
  return `${homepage.replace(/\/+$/, "")}/console/ (My Profile > API Keys)`;
}

/** What clients say of the key that they ask for. */
export function keyAskedOf(contents: Pick<Contents, "homepage" | "serviceName">): object {
  return {
    type: "string",
    title: "API key",
    description: `Your API key for ${contents.serviceName}. Create one at ${keysPageOf(contents)}.`,
    sensitive: true,
    required: true,
  };
}

/** The licence of what is in a package. */
export const LICENSE = "Apache-2.0";

/** A manifest as text. */
export function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
