import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { createGuard, type Guard } from "./guard.js";
import type { OutgoingPolicy } from "./policy.js";
import { openTunnel } from "./tunnel.js";

/** The number of ports whose connectors are kept, with their TLS sessions. */
const KEPT_PORTS = 64;

/**
 * Makes what opens connections to addresses that others named. An address is checked when it is dialled, after its
 * name was looked up: a name that was harmless when it was written down may lead elsewhere by now (DNS rebinding).
 * The address that was checked is the one that is dialled.
 *
 * With a proxy, listed hosts are dialled directly. The proxy looks up every other name itself, so what is checked of
 * those is what they say: an address, or a name that always leads to a closed one.
 *
 * @param timeoutMs how long a connection may take to open.
 * @param resolve looks names up.
 * @throws Error for an invalid entry of the policy.
 */
export function createDial(
  timeoutMs: number,
  policy: OutgoingPolicy,
  resolve: LookupFunction = lookup,
): buildConnector.connector {
  const guard = createGuard(policy);
  const proxy = policy.proxy === "" ? undefined : new URL(policy.proxy);
  const secure = buildConnector({ timeout: timeoutMs });
  const byPort = new Map<number, buildConnector.connector>();

  function directly(port: number): buildConnector.connector {
    let connect = byPort.get(port);
    if (connect === undefined) {
      if (byPort.size >= KEPT_PORTS) byPort.clear();
      connect = buildConnector({ timeout: timeoutMs, lookup: openOnly(guard, port, resolve) });
      byPort.set(port, connect);
    }
    return connect;
  }

  return (options, done) => {
    // Node looks up names only, so an address is checked here.
    const host = options.hostname.replace(/^\[|\]$/g, "");
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    const refusal = guard.ofHost(host, port);
    if (refusal !== undefined) return done(refusal, null);
    if (proxy === undefined || guard.isListed(host, port)) return void directly(port)(options, done);
    openTunnel(proxy, { host: options.hostname, port }, timeoutMs).then(
      (socket) => {
        if (options.protocol === "https:") secure({ ...options, httpSocket: socket }, done);
        else done(null, socket);
      },
      (error: Error) => done(error, null),
    );
  };
}

/** Of the addresses of a name, those that may be dialled; an error if none may. */
function openOnly(guard: Guard, port: number, resolve: LookupFunction): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null || !Array.isArray(found)) return done(error, "");
      const judged = found.map((one) => ({ one, refusal: guard.ofAddress(hostname, port, one.address) }));
      const open = judged.filter(({ refusal }) => refusal === undefined).map(({ one }) => one);
      const [first] = open;
      if (first !== undefined) return options.all ? done(null, open) : done(null, first.address, first.family);
      done(judged[0]?.refusal ?? new Error(`${hostname} has no address`), "");
    });
  };
}
