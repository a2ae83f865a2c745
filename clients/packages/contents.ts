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
  /** What the server is about, in words. */
  readonly subject: string;
  /** The endpoint's URL, with the query that narrows it. */
  readonly url: string;
  readonly tools: readonly PackageTool[];
  /** Hand-written guidance, in Markdown; "" for none. */
  readonly guidance: string;
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

/** What people call it. */
export function titleOf({ server }: Pick<Contents, "server">): string {
  return `Sallyport ${server.toUpperCase()}`;
}

/** What it is, in one line. */
export function summaryOf({ subject }: Pick<Contents, "subject">): string {
  return `Tools for ${subject}, over the MCP endpoint of your company's Sallyport, always as yourself.`;
}

/** Who made it, as manifests say it. */
export const AUTHOR = "Sallyport";
/** The licence of what is in a package. */
export const LICENSE = "Apache-2.0";

/** A manifest as text. */
export function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
