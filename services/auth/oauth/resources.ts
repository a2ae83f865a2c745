import { CORE, isPlatformServer, platformOf, SERVERS, type Server, scopesOfServer } from "../../shared/platforms.js";

/** An MCP endpoint as a resource of the authorization server (RFC 8707). */
export interface Resource {
  /** Its URL, which is the audience of its tokens, letter for letter. */
  readonly url: string;
  readonly server: string;
  /** What it is about, as a person reads it. */
  readonly subject: string;
  readonly scopes: readonly [read: string, write: string];
}

/** The endpoints that tokens are issued for, by URL. */
export interface Resources {
  readonly all: readonly Resource[];
  /** Clients write a URL with or without a last slash. */
  of(url: string): Resource | undefined;
}

/**
 * Lays out the resources: {base}/mcp/{server} each, and the further public URLs.
 *
 * @param publicUrls by server.
 */
export function layOutResources(baseUrl: string, publicUrls: Readonly<Record<string, string>>): Resources {
  const all = SERVERS.flatMap((server) => {
    const urls = [`${baseUrl.replace(/\/$/, "")}/mcp/${server}`, publicUrls[server]];
    return urls
      .filter((url) => url !== undefined)
      .map(
        (url): Resource => ({
          url: spelled(url),
          server,
          subject: subjectOf(server),
          scopes: scopesOfServer(server) as [read: string, write: string],
        }),
      );
  });
  const byUrl = new Map(all.map((resource) => [resource.url, resource]));
  return { all, of: (url) => byUrl.get(url.replace(/\/$/, "")) };
}

function subjectOf(server: Server): string {
  if (!isPlatformServer(server)) return CORE.about.inShort;
  const { about, label } = platformOf(server);
  return `${about.product} (${label})`;
}

/** As the façade spells it: lower-case host, no last slash. */
function spelled(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/$/, "")}`;
}
