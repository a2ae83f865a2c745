import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { createGuard, type RefusedAddressError } from "./guard.js";
import { targetOf } from "./named-url.js";
import type { OutgoingPolicy } from "./policy.js";

/** How long a name may take to be looked up, in milliseconds. */
const LOOKUP_MS = 2_000;

/**
 * Why a URL of good form would not be called now, so that it can be said when the URL is written down. What may be
 * called is checked again whenever it is dialled: a name that is not known now, or that a proxy looks up, passes here.
 *
 * @param resolve looks names up.
 */
export async function refusalNow(
  policy: OutgoingPolicy,
  url: string,
  resolve: LookupFunction = lookup,
): Promise<RefusedAddressError | undefined> {
  const guard = createGuard(policy);
  const { host, port } = targetOf(url);
  const refusal = guard.ofHost(host, port);
  if (refusal !== undefined || (policy.proxy !== "" && !guard.isListed(host, port))) return refusal;
  const bare = host.replace(/^\[|\]$/g, "");
  if (isIP(bare) !== 0) return undefined;
  const addresses = await addressesOf(bare, resolve);
  const judged = addresses.map((address) => guard.ofAddress(host, port, address));
  return judged.includes(undefined) ? undefined : judged[0];
}

/** The addresses of a name; none if it is not known, or not in time. */
function addressesOf(host: string, resolve: LookupFunction): Promise<string[]> {
  return new Promise((done) => {
    const late = setTimeout(() => done([]), LOOKUP_MS);
    resolve(host, { all: true }, (error, found) => {
      clearTimeout(late);
      done(error === null && Array.isArray(found) ? found.map(({ address }) => address) : []);
    });
  });
}
