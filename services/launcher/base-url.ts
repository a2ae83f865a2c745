/** The public base URL as it is set; else the address at which this machine reaches what it listens on. */
export function baseUrlOf(
  { baseUrl, host }: { readonly baseUrl: string | undefined; readonly host: string },
  port: number,
): string {
  return baseUrl ?? `http://${reachable(host)}:${port}`;
}

/** Whether an address to listen on stands for every one of this machine, and so for none to be reached at. */
export function isEveryAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** How this machine reaches an address that it listens on. */
export function reachable(host: string): string {
  if (isEveryAddress(host)) return host.includes(":") ? "[::1]" : "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
