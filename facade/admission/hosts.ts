/** Whether a request may name this host (its Host header); none where it has no such header. */
export type AllowsHost = (host: string | undefined) => boolean;

/** What a service is called. */
export interface HostsOptions {
  /** Further hosts that an administrator lists, with their ports. */
  readonly named?: readonly string[] | undefined;
  /** The service's public URLs. */
  readonly published: readonly URL[];
  /** The address that is listened on. */
  readonly address: string;
}

/** A name of this machine for itself, with any port: a port may be forwarded. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Whether an address to listen on is reached from this machine only. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address) || address === "::1";
}

/**
 * Builds the check of Host headers, which stops DNS rebinding: a web page whose
 * name is turned to this machine's address still says its own name. A request may
 * name the hosts of the public URLs and those that an administrator lists; where
 * none are listed and only this machine reaches the service, also its names for itself.
 */
export function createHosts({ named, published, address }: HostsOptions): AllowsHost {
  const known = new Set([...published.flatMap(withDefaultPort), ...(named ?? [])].map((host) => host.toLowerCase()));
  const isLocal = named === undefined && isLoopback(address);
  return (host) => {
    if (host === undefined) return false;
    return known.has(host) || (isLocal && LOOPBACK.test(host)) || known.has(host.toLowerCase());
  };
}

/** The hosts that a client may write for a URL: one without a port is also reached with the default one. */
function withDefaultPort({ host, port, protocol }: URL): string[] {
  return port === "" ? [host, `${host}:${protocol === "https:" ? 443 : 80}`] : [host];
}
