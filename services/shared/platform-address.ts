import { BlockList, isIP, isIPv6 } from "node:net";

// Where a platform, and what users have us call, may be. Platforms live in private networks and on loopback,
// so those are allowed; what no platform is at, and what answers with a
// machine's own credentials to whoever asks from it, is refused: when a
// platform registers, and again when it is dialled, since a name may lead
// elsewhere by then.

type Range = readonly [address: string, prefix: number];

/** By what they are called in a refusal. Sources: the IANA special-purpose address registries (RFC 6890), and the clouds' own pages on metadata. */
const REFUSED: Readonly<Record<string, readonly Range[]>> = {
  // AWS, Google Cloud, Oracle Cloud, Scaleway; Alibaba Cloud; Azure's WireServer; Oracle Cloud Classic.
  "a cloud metadata": [
    ["fd00:ec2::254", 128],
    ["fd20:ce::254", 128],
    ["fd00:c1::a9fe:a9fe", 128],
    ["fd00:42::42", 128],
    ["100.100.100.200", 32],
    ["168.63.129.16", 32],
    ["192.0.0.192", 32],
  ],
  "a link-local": [
    ["169.254.0.0", 16],
    ["fe80::", 10],
  ],
  "a multicast": [
    ["224.0.0.0", 4],
    ["ff00::", 8],
  ],
  "an unspecified": [
    ["0.0.0.0", 8],
    ["::", 128],
  ],
  "a reserved": [["240.0.0.0", 4]],
};

/** Names that lead to metadata only inside a cloud, where we cannot look them up beforehand. */
const METADATA_NAMES = new Set(["metadata", "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"]);

const LISTS = Object.entries(REFUSED).map(([kind, ranges]) => [kind, listOf(ranges)] as const);

/**
 * Which kind of address this is, where it is one that is never dialled.
 *
 * @param address an IPv4 or IPv6 address in any of its writings, without brackets.
 * @returns such as `a link-local`; undefined where it may be dialled.
 */
export function refusedKindOf(address: string): string | undefined {
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  return LISTS.find(([, list]) => list.check(address, family))?.[0];
}

/**
 * What is wrong with a platform's URL, in words that follow its name; undefined
 * where nothing is. An address written in another way, such as 0xa9fea9fe, is
 * read as clients read it (WHATWG URL).
 */
export function platformUrlProblem(text: string): string | undefined {
  const hasMore = /[?#]/.test(text) ? "must have neither a query (?) nor a fragment (#)" : undefined;
  return formProblem(text) ?? hasMore ?? hostProblem(text, "where no platform is");
}

/**
 * What is wrong with a URL that users have us call, in words that follow its
 * name; undefined where nothing is.
 */
export function calledUrlProblem(text: string): string | undefined {
  const hasFragment = text.includes("#") ? "must have no fragment (#)" : undefined;
  return formProblem(text) ?? hasFragment ?? hostProblem(text, "which is never called");
}

function formProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:\/\/[^/\\\s]/i.test(text))
    return "must be a URL that begins with http:// or https://";
  // The parser drops white space, reads \ as /, and forgets an empty query.
  if (/[^\x21-\x7e]|\\/.test(text)) return "must be written in ASCII, without white space and backslashes";
  if (url.username !== "" || url.password !== "" || /^\w+:\/\/[^/?#]*@/.test(text))
    return "must not hold a user name or a password";
  return undefined;
}

function hostProblem(text: string, why: string): string | undefined {
  const host = new URL(text).hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  const isMetadata = METADATA_NAMES.has(host);
  const kind = isMetadata ? "a cloud metadata" : isIP(host) === 0 ? undefined : refusedKindOf(host);
  return kind === undefined ? undefined : `must not lead to ${kind} address (${host}), ${why}`;
}

/** The ranges, and those of IPv6 that carry the ones of IPv4 inside: IPv4-compatible, NAT64 (RFC 6052) and 6to4 (RFC 3056). */
function listOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) {
    if (isIPv6(address)) {
      list.addSubnet(address, prefix, "ipv6");
      continue;
    }
    // Those mapped into IPv6 (::ffff:0:0/96) the list knows by itself.
    list.addSubnet(address, prefix, "ipv4");
    list.addSubnet(`64:ff9b::${address}`, 96 + prefix, "ipv6");
    const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
    const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
    list.addSubnet(`2002:${hex(a, b)}:${hex(c, d)}::`, 16 + prefix, "ipv6");
    // ::/104 would take loopback (::1) along.
    if (address !== "0.0.0.0") list.addSubnet(`::${address}`, 96 + prefix, "ipv6");
  }
  return list;
}
