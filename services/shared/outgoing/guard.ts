import { isIP } from "node:net";
import { canonical, closedKindOf } from "./address-kinds.js";
import { hostOf, readAllowList } from "./allow-list.js";
import type { OutgoingPolicy } from "./policy.js";

/** The address that a URL leads to is closed. The message is for everybody; what it leads to is for the log alone. */
export class RefusedAddressError extends Error {
  constructor(
    host: string,
    port: number,
    /** Which address it is, and of which kind. */
    readonly detail: string,
  ) {
    const shown = host.includes(":") ? `[${host}]` : host;
    super(
      `${shown} leads to a closed address (loopback, private, metadata or special-purpose): ask an administrator to add ${shown}:${port} to OUTGOING_ALLOW`,
    );
  }
}

/** Says of each address whether it may be dialled. */
export interface Guard {
  /** Whether the host is listed by itself, so that no proxy is used for it. */
  isListed(host: string, port: number): boolean;
  /**
   * Why a host is not called, before anything is looked up: it is a closed address, or a name that always leads to one.
   *
   * @param host of a URL, with or without brackets.
   */
  ofHost(host: string, port: number): RefusedAddressError | undefined;
  /** Why an address that a host led to is not dialled. */
  ofAddress(host: string, port: number, address: string): RefusedAddressError | undefined;
}

/**
 * Makes the guard of a policy.
 *
 * @throws Error for an invalid entry.
 */
export function createGuard({ allow }: OutgoingPolicy): Guard {
  const list = readAllowList(allow);

  function judge(host: string, port: number, address: string): RefusedAddressError | undefined {
    const kind = closedKindOf(address);
    if (kind === undefined || list.opens({ host, address, port }, kind)) return undefined;
    return new RefusedAddressError(host, port, `${address} is ${kind.name} address`);
  }

  return {
    isListed(given, port) {
      const host = hostOf(given) ?? given;
      const address = addressOf(host);
      return list.names(host, port) || (address !== undefined && (list.names(address, port) || list.covers(address)));
    },
    ofHost(given, port) {
      const host = hostOf(given) ?? given;
      const address = addressOf(host);
      return address === undefined ? undefined : judge(host, port, address);
    },
    ofAddress: (given, port, address) => judge(hostOf(given) ?? given, port, canonical(address)),
  };
}

/** The address that a host is, or that its name always stands for. */
function addressOf(host: string): string | undefined {
  if (isIP(host) !== 0) return host;
  if (/^(?:.*\.)?localhost$/.test(host)) return "127.0.0.1";
  return METADATA_NAMES.has(host) ? "169.254.169.254" : undefined;
}

/** Names that lead to metadata only inside a cloud, or as its proxy looks them up. */
const METADATA_NAMES = new Set(["metadata", "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"]);
