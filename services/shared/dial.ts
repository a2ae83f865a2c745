import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { refusedKindOf } from "./platform-address.js";

/** The address that a URL leads to is one that is never dialled. */
export class RefusedAddressError extends Error {}

/**
 * Makes what opens connections to addresses that others named: platforms, and
 * what users have us call. An address is checked when it is dialled, after its
 * name was looked up: a name that was harmless when it was written down may lead
 * elsewhere by now (DNS rebinding).
 *
 * @param timeoutMs how long a connection may take to open.
 * @param resolve looks names up.
 */
export function createDial(timeoutMs: number, resolve: LookupFunction = lookup): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, lookup: allowedOnly(resolve) });
  return (options, done) => {
    // Node looks up names only.
    const host = options.hostname.replace(/^\[|\]$/g, "");
    const kind = isIP(host) === 0 ? undefined : refusedKindOf(host);
    if (kind === undefined) connect(options, done);
    else done(refused(host, kind), null);
  };
}

/** Of the addresses of a name, those that may be dialled; an error where none may. */
function allowedOnly(resolve: LookupFunction): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null || !Array.isArray(found)) return done(error, "");
      const allowed = found.filter(({ address }) => refusedKindOf(address) === undefined);
      const [first] = allowed;
      if (first !== undefined) return options.all ? done(null, allowed) : done(null, first.address, first.family);
      const [{ address } = { address: "" }] = found;
      done(refused(address, refusedKindOf(address) ?? "no"), "");
    });
  };
}

function refused(address: string, kind: string): RefusedAddressError {
  return new RefusedAddressError(`${address} is ${kind} address`);
}
