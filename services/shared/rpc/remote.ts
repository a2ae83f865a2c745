import { create, type DescMethod } from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Credential } from "./call.js";
import type { Dispatch, Outgoing } from "./dispatch.js";
import { unavailable } from "./errors.js";
import { type ServiceName, serviceOf } from "./service.js";
import { writable } from "./unread.js";

/** The header that carries a caller assertion between our services. */
export const ASSERTION_HEADER = "x-caller";

/**
 * Calls services in other processes: Connect over HTTP/2, one connection an
 * address.
 *
 * @param addressOf where a service listens; undefined where it is nowhere.
 */
export function connectRemote(addressOf: (service: ServiceName) => string | undefined): Dispatch {
  const transports = new Map<string, Transport>();

  function transportFor(method: DescMethod): Transport {
    const service = serviceOf(method);
    const baseUrl = service === undefined ? undefined : addressOf(service);
    if (baseUrl === undefined) throw unavailable(`no address is known for ${method.parent.typeName}`);
    let transport = transports.get(baseUrl);
    if (transport === undefined) {
      transport = createConnectTransport({
        baseUrl,
        httpVersion: "2",
        useBinaryFormat: true,
        acceptCompression: [],
        pingIntervalMs: 10_000,
        pingIdleConnection: true,
        // A process that is busy answers late, and is not gone.
        pingTimeoutMs: 10_000,
      });
      transports.set(baseUrl, transport);
    }
    return transport;
  }

  return {
    async unary(method, request, out) {
      const transport = transportFor(method);
      const asked = writable(method.input, request);
      const { message } = await transport.unary(method, out.signal, timeoutOf(out), headersOf(out), asked);
      return message;
    },
    async *stream(method, request, out) {
      const input = once(create(method.input, request));
      const { message } = await transportFor(method).stream(
        method,
        out.signal,
        timeoutOf(out),
        headersOf(out),
        input as never,
      );
      yield* message;
    },
    async *duplex(method, requests, out) {
      const { message } = await transportFor(method).stream(
        method,
        out.signal,
        timeoutOf(out),
        headersOf(out),
        requests,
      );
      yield* message;
    },
  };
}

/** The headers that carry a credential. */
export function credentialHeaders({ assertion, authorization }: Credential): Record<string, string> {
  if (assertion !== undefined) return { [ASSERTION_HEADER]: assertion };
  return authorization === undefined ? {} : { authorization };
}

function headersOf({ credential, traceparent }: Outgoing): Record<string, string> {
  const headers = credentialHeaders(credential);
  return traceparent === undefined ? headers : { ...headers, traceparent };
}

function timeoutOf({ deadline }: Outgoing): number | undefined {
  if (deadline === undefined) return undefined;
  const left = deadline - Date.now();
  if (left <= 0) throw new ConnectError("the deadline passed", 4);
  return left;
}

async function* once<T>(value: T): AsyncIterable<T> {
  yield value;
}
