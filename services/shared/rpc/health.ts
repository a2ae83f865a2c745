import { setTimeout as sleep } from "node:timers/promises";
import { Health, HealthCheckResponse_ServingStatus as Status } from "#proto/grpc/health/v1/health_pb.js";
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
  const statusOf = async (service: string): Promise<Status> =>
    (await readyOf(service)) === undefined ? Status.SERVING : Status.NOT_SERVING;
  return [
    unary(Health.method.check, async ({ service }) => ({ status: await statusOf(service) })),
    serverStream(Health.method.watch, async function* ({ service }, { signal }) {
      let last: Status | undefined;
      while (!signal.aborted) {
        const status = await statusOf(service).catch(() => Status.SERVICE_UNKNOWN);
        if (status !== last) yield { status };
        last = status;
        await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
      }
    }),
  ].map((method) => withScope("public", method));
}

/** @throws ConnectError not_found, as the protocol asks for an unknown service. */
export function unknownService(service: string): never {
  throw notFound(`no service ${service} is served here`);
}
