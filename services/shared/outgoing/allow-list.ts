import { isIP, isIPv4, isIPv6 } from "node:net";
import { parsedUrl } from "../parsed-url.js";
import { type ClosedKind, canonical, holds, listOf } from "./address-kinds.js";

/** What a deployment lists, read. */
export interface AllowList {
  /** Whether the list names this host itself: its name, or its exact address. */
  names(host: string, port: number): boolean;
  /** Whether a closed address may be dialled for this host. */
  opens(target: { readonly host: string; readonly address: string; readonly port: number }, kind: ClosedKind): boolean;
  /** Whether an address, as `canonical` gives it, is in a range of the list. */
  covers(address: string): boolean;
}

interface Entry {
  /** A name, or an address as `canonical` gives it. */
  readonly host: string;
  /** Of a range. */
  readonly prefix?: string;
  /** Any where left out. */
  readonly port?: number;
}

/**
 * Reads the list of a deployment.
 *
 * @throws Error that says what an entry must be.
 */
export function readAllowList(entries: readonly string[]): AllowList {
  const read = entries.map(entryOf);
  const ranges = listOf(read.flatMap(({ host, prefix }) => (prefix === undefined ? [] : [`${host}/${prefix}`])));
  const named = new Set(
    read.flatMap(({ host, prefix, port }) => (prefix === undefined ? [`${host} ${port ?? ""}`] : [])),
  );
  const names = (host: string, port: number): boolean => named.has(`${host} `) || named.has(`${host} ${port}`);
  const covers = (address: string): boolean => holds(ranges, address);
  return {
    names,
    covers,
    opens({ host, address, port }, { exactOnly }) {
      if (names(address, port)) return true;
      return !exactOnly && (names(host, port) || covers(address));
    },
  };
}

/**
 * Checks one entry of a list.
 *
 * @returns it as it was given.
 * @throws Error that says what an entry must be.
 */
export function allowEntry(text: string): string {
  entryOf(text);
  return text;
}

/**
 * A host as the list compares it: a name in lower case and ASCII without a last dot, an address in its one spelling,
 * also where it was written as a number such as 0x7f000001.
 *
 * @returns undefined for what is no host.
 */
export function hostOf(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/s, "$1");
  const shown = isIPv6(bare) ? `[${bare.replace(/%.*$/s, "")}]` : bare;
  const url = /^[^\s/\\?#@:]+$|^\[/.test(shown) ? parsedUrl(`http://${shown}`) : undefined;
  if (url === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  return isIP(host) === 0 ? host : canonical(host);
}

function entryOf(text: string): Entry {
  const range = /^([^/]+)\/(\d{1,3})$/.exec(text);
  if (range !== null) {
    const [, address = "", prefix = ""] = range;
    if (isIP(address) === 0 || Number(prefix) > (isIPv4(address) ? 32 : 128)) throw wrong(text);
    return { host: address, prefix };
  }
  const [, host = "", port] = isIPv6(text) ? ["", text] : (/^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? []);
  const read = hostOf(host);
  if (read === undefined || read === "" || read.includes("*")) throw wrong(text);
  if (port === undefined) return { host: read };
  if (Number(port) < 1 || Number(port) > 65_535) throw wrong(text);
  return { host: read, port: Number(port) };
}

function wrong(text: string): Error {
  return new Error(
    `must be addresses, ranges such as 10.0.0.0/8, or host names; an address or a name may have a port. This entry is none of these: ${JSON.stringify(text.slice(0, 100))}`,
  );
}
