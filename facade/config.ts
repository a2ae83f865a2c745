import { type Option, port, text, url } from "../services/shared/config.js";

/** The façade's settings; the launcher adds where the services are. */
export const FACADE_OPTIONS = {
  host: option("Address to listen on.", text, "127.0.0.1"),
  port: option("Port to listen on.", port, 8080),
  baseUrl: optional("Public base URL; http://HOST:PORT where not given.", url),
  serviceName: option("The name that users see.", text, "Sallyport"),
  mcpCtiUrl: optional("A further public URL of the cti endpoint.", url),
  mcpAevUrl: optional("A further public URL of the aev endpoint.", url),
  mcpGrcUrl: optional("A further public URL of the grc endpoint.", url),
  mcpCoreUrl: optional("A further public URL of the core endpoint.", url),
  allowedOrigins: option("Web origins that may call, besides the base URL's own; by commas.", list, []),
  allowedHosts: optional("Host names that requests may name, by commas; any where not given.", list),
  trustedProxies: option("How many proxies in front append to X-Forwarded-For.", count, 0),
  maxInFlight: option("Requests in flight in one worker before it answers 503.", count, 1000),
  callTimeoutMs: option("How long a tool may take, in milliseconds.", count, 60_000),
  callsPerSecond: option("Calls of tools that a key may make a second.", count, 50),
  callBurst: option("Calls of tools that a key may make at once.", count, 200),
  badTokensPerMinute: option("Different bad tokens that an address may try a minute.", count, 30),
} as const;

function option<T>(doc: string, parse: (value: string) => T, fallback: T): Option<T> & { readonly fallback: T } {
  return { doc, parse, fallback };
}

function optional<T>(doc: string, parse: (value: string) => T): Option<T | undefined> {
  return { doc, parse, fallback: undefined };
}

function list(value: string): readonly string[] {
  return value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function count(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) throw new Error("must be a whole number");
  return number;
}
