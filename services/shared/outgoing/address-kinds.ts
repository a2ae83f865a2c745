import { BlockList, isIPv4 } from "node:net";

// Sources: the IANA special-purpose address registries (RFC 6890) and the clouds' own pages on metadata.

/** A kind of address that is closed unless the deployment lists it. */
export interface ClosedKind {
  /** With its article, such as `a private`. */
  readonly name: string;
  /** It is opened by its exact address alone, and never by a range or a name. */
  readonly exactOnly: boolean;
}

/** The first row that holds an address says its kind. */
const ROWS: readonly (ClosedKind & { readonly ranges: readonly string[] })[] = [
  { name: "a loopback", exactOnly: false, ranges: ["127.0.0.0/8", "::1/128"] },
  {
    name: "a cloud metadata",
    exactOnly: true,
    ranges: [
      // AWS, Google Cloud, Oracle Cloud, Scaleway.
      ...["fd00:ec2::254/128", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128", "fd00:42::42/128"],
      // Alibaba Cloud; Azure's WireServer; Oracle Cloud Classic.
      ...["100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32"],
    ],
  },
  { name: "a link-local", exactOnly: true, ranges: ["169.254.0.0/16", "fe80::/10"] },
  { name: "a multicast", exactOnly: true, ranges: ["224.0.0.0/4", "ff00::/8"] },
  { name: "an unspecified", exactOnly: true, ranges: ["0.0.0.0/8", "::/128"] },
  { name: "a reserved", exactOnly: true, ranges: ["240.0.0.0/4"] },
  {
    // Any address of IPv4 can be inside: IPv4-compatible, 6to4, Teredo, and NAT64 in a range that a network chose.
    name: "a tunnel's",
    exactOnly: true,
    ranges: ["::/96", "2002::/16", "2001::/32", "64:ff9b:1::/48"],
  },
  {
    name: "a private",
    exactOnly: false,
    ranges: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"],
  },
  {
    name: "a special-purpose",
    exactOnly: false,
    ranges: [
      ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
      ...["2001::/23", "2001:db8::/32", "3fff::/20"],
      // All that is not global unicast (2000::/3, RFC 4291): discard-only, segment routing, and what has no use yet.
      ...["::/3", "4000::/2", "8000::/1"],
    ],
  },
];

const KINDS = ROWS.map(({ name, exactOnly, ranges }) => ({ kind: { name, exactOnly }, list: listOf(ranges) }));

/**
 * Which kind of address this is; undefined for a public one, which is open.
 *
 * @param address as `canonical` gives it.
 */
export function closedKindOf(address: string): ClosedKind | undefined {
  return KINDS.find(({ list }) => holds(list, address))?.kind;
}

/**
 * An address in its one spelling. One of IPv4 inside IPv6 (mapped, or in the well-known range of NAT64, RFC 6052) is
 * the one of IPv4, since that is what is reached.
 *
 * @param address of IPv4 or IPv6, without brackets.
 */
export function canonical(address: string): string {
  if (isIPv4(address)) return address;
  const spelled = new URL(`http://[${address.replace(/%.*$/s, "")}]`).hostname.slice(1, -1);
  const inside = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(spelled);
  if (inside === null) return spelled;
  const [high = 0, low = 0] = inside.slice(1).map((part) => Number.parseInt(part, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** A list of ranges such as 10.0.0.0/8. */
export function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix] = range.split("/");
    list.addSubnet(address, Number(prefix), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

/** Whether an address, as `canonical` gives it, is in one of the ranges. */
export function holds(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}
