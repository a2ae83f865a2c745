import { isIPv6 } from "node:net";

/** Groups of an address of IPv6, and of them those that name the network (RFC 4291 section 2.5.4). */
const GROUPS = 8;
const NETWORK = 4;

/**
 * An address as one party has it: of IPv6 the network, in which a host takes what
 * address it likes; what stands for an address of IPv4 (RFC 4291 section 2.5.5.2)
 * is that one. Whatever else it is given it gives back.
 */
export function partyOf(address: string): string {
  if (!address.includes(":") || !isIPv6(address)) return address;
  const dotted = /:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const [head = "", tail = ""] = address.split("%", 1)[0]!.split("::");
  const [before, after] = [groupsOf(head), groupsOf(tail)];
  const missing = Array<number>(GROUPS - before.length - after.length).fill(0);
  const groups = [...before, ...missing, ...after];
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join(".");
  return `${groups
    .slice(0, NETWORK)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

function groupsOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}
