import { setTimeout as sleep } from "node:timers/promises";
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as Status,
} from "#proto/grpc/health/v1/health_pb.js";
import type { Call } from "./call.js";
import { notFound } from "./errors.js";
import { type Method, serverStream, unary, withScope } from "./method.js";

const LOOK_MS = 1_000;

/**
 * The gRPC health protocol, open to everybody: it says only whether a service
 * of this process can serve.
 *
 * @param readyOf why a service cannot serve, undefined when it can; "" asks
 *   for the whole process. Throws for a name that is not served here.
 */
export function health(readyOf: (service: string) => Promise<string | undefined>): Method[] {
  const asked = new Map<string, { readonly at: number; readonly status: Promise<Status> }>();
  const ask = async (service: string): Promise<Status> =>
    (await readyOf(service)) === undefined ? Status.SERVING : Status.NOT_SERVING;
  /** One look for all who ask at the same time: anybody may. */
  const statusOf = (service: string): Promise<Status> => {
    const last = asked.get(service);
    if (last !== undefined && performance.now() - last.at < LOOK_MS / 2) return last.status;
    const status = ask(service);
    // A name that is not served is forgotten: there are too many of those.
    status.catch(() => asked.delete(service));
    asked.set(service, { at: performance.now(), status });
    return status;
  };
  async function* watch({ service }: HealthCheckRequest, { signal }: Call): AsyncIterable<{ status: Status }> {
    let last: Status | undefined;
    while (!signal.aborted) {
      const status = await statusOf(service).catch(() => Status.SERVICE_UNKNOWN);
      if (status !== last) yield { status };
      last = status;
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  return [
    unary(Health.method.check, async ({ service }) => ({ status: await statusOf(service) })),
    { ...serverStream(Health.method.watch, watch), isEndless: true },
  ].map((method) => withScope("public", method));
}

/** @throws ConnectError not_found, as the protocol asks for an unknown service. */
export function unknownService(service: string): never {
  throw notFound(`this server does not serve ${service}`);
}
