import { isIPv6 } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";
import { refang } from "./text.js";

// The platform tells observables apart by the letters of their values. One
// address can be written in several ways, and then is one address.

/** A value as it is written here: refanged, addresses in their short form, domains without a full stop at the end. */
export function canonicalOf(given: string): string {
  const value = refang(given);
  if (isShort(value) && ROOTED.test(value)) return value.slice(0, -1);
  if (MAC.test(value)) return value.toLowerCase().replaceAll("-", ":");
  const [address = "", prefix] = value.split("/");
  return isAddress(address) ? `${shortOf(address)}${suffixOf(prefix)}` : value;
}

/** How many ways to write an address are looked for where each is looked for in many attributes. */
const FEW = 16;

/**
 * The ways to write a value that people and feeds use, its own way first; the platform ignores case.
 *
 * @param most ways to write an address: of one that has more, all groups have their zeros in front, or none.
 */
export function spellingsOf(given: string, most = FEW): string[] {
  const value = canonicalOf(given);
  return [...new Set([value, refang(given), ...othersOf(value, most)])];
}

function othersOf(value: string, most: number): string[] {
  const [address = "", prefix] = value.split("/");
  if (isAddress(address)) {
    const mixed = mixedOf(groupsOf(address));
    return [...addressesOf(address, most), ...mixed].map((one) => `${one}${suffixOf(prefix)}`);
  }
  if (MAC.test(value)) return [value.replaceAll(":", "-")];
  if (isShort(value) && DOMAIN.test(value))
    return [`${value}.`, domainToASCII(value), domainToUnicode(value)].filter((one) => one !== "");
  if (BARE_URL.test(value)) return [value.endsWith("/") ? value.slice(0, -1) : `${value}/`];
  return [];
}

/** An IPv6 address as short as it can be written, in lower case. */
const shortOf = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** The ways to write an IPv6 address: with zeros in front of some groups, and with its groups of nothing else or without. */
function addressesOf(address: string, most: number): string[] {
  const groups = groupsOf(address);
  const forms = [groups, groups.map((group) => (group === "0" ? "0000" : group)), shortOf(address).split(":")];
  const padded = (group: string) => (group === "" ? "" : group.padStart(4, "0"));
  return forms.flatMap((form) => {
    const ways = form.reduce(
      (left, group) => {
        const [plain, full] = [group, padded(group)];
        // Who writes zeros in full writes all of them so.
        if (plain === full || plain === "0") return left.map((one) => [...one, plain]);
        return left.length * 2 > most
          ? []
          : left.flatMap((one) => [
              [...one, plain],
              [...one, full],
            ]);
      },
      [[]] as string[][],
    );
    const all = ways.length === 0 || ways.length * forms.length > most ? [form] : ways;
    return [...all, form.map(padded)].map((one) => one.join(":"));
  });
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  const [left = "", right] = shortOf(address).split("::");
  const [before, after] = [left, right ?? ""].map((part) => (part === "" ? [] : part.split(":"))) as [
    string[],
    string[],
  ];
  return [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
}

/** An IPv4 address inside of an IPv6 one is also written with full stops. */
function mixedOf(groups: readonly string[]): string[] {
  if (groups.slice(0, 5).some((group) => group !== "0") || groups[5] !== "ffff") return [];
  const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
  return [`::ffff:${bytes.join(".")}`];
}

/** An address without a zone, which belongs to one machine. */
const isAddress = (text: string): boolean => isIPv6(text) && !text.includes("%");

const suffixOf = (prefix: string | undefined): string => (prefix === undefined ? "" : `/${prefix}`);

/** Longest domain with the full stop of the root, in characters (RFC 1035, section 2.3.4). */
const MAX_DOMAIN = 254;

/** Whether a value can be a domain by its length: on a long text, the patterns take time by the square of it. */
const isShort = ({ length }: string): boolean => length <= MAX_DOMAIN;

const DOMAIN = /^(?!.*\.\.)(?!\d+(?:\.\d+){3}$)[\p{L}\p{N}_-][\p{L}\p{N}._-]*\.[\p{L}\p{N}-]+$/u;
/** A domain with the full stop of the root at its end. */
const ROOTED = /^(?!.*\.\.)[\p{L}\p{N}_-][\p{L}\p{N}._-]*\.[\p{L}\p{N}-]*\p{L}[\p{L}\p{N}-]*\.$/u;
const MAC = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}$/i;
const BARE_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+\/?$/i;
