import { createTracing, type Tracing } from "../shared/process/tracing.js";
import type { Credential } from "../shared/rpc/call.js";
import type { Settings } from "./config.js";

/**
 * Traces our own requests where the settings say so, into the traces service
 * unless another collector is named; what is told before the first start is
 * over goes nowhere.
 */
export async function startTracing(
  { tracing, otlpEndpoint, tracesUrl, serviceName, services, traceSampleRatio }: Settings,
  ownUrl: string,
  self: () => Credential,
): Promise<Tracing | undefined> {
  if (!tracing) return undefined;
  const { authorization = "" } = self();
  const own = services.includes("traces") ? ownUrl : tracesUrl?.[0];
  return createTracing({
    enabled: true,
    endpoint: otlpEndpoint ?? own ?? ownUrl,
    // Our key is for our own service; another collector is reached by OTEL_EXPORTER_OTLP_HEADERS.
    headers: otlpEndpoint === undefined ? { authorization } : {},
    serviceName,
    sampleRatio: traceSampleRatio,
  });
}
