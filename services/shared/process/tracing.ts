import { Code } from "@connectrpc/connect";
import type { SpanContext } from "@opentelemetry/api";
import type { Chain } from "../rpc/chain.js";

/** What is traced, and where to. */
export interface TracingOptions {
  readonly enabled: boolean;
  /** Where spans go, over OTLP/gRPC: http://host:port. */
  readonly endpoint: string;
  /** What goes with every export, such as authorization. */
  readonly headers: Readonly<Record<string, string>>;
  /** The service.name of the spans. */
  readonly serviceName: string;
  /** The share of traces begun here that is kept, from 0 to 1; a caller's own decision comes first. */
  readonly sampleRatio: number;
}

/** Tells an OpenTelemetry collector of every call that is served. */
export interface Tracing {
  /** Goes into the {@link Chain} of the methods to trace. */
  readonly observe: NonNullable<Chain["observe"]>;
  /** Sends what is waiting. @throws where the collector does not take it. */
  flush(): Promise<void>;
  /** Sends what is waiting and ends. @throws as flush does. */
  close(): Promise<void>;
}

/** These are our failures rather than the caller's (semantic conventions for gRPC servers). */
const FAILURES: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

/**
 * Starts tracing: one span a call, with the caller's W3C trace context as its
 * parent; never arguments, results or credentials.
 *
 * @returns undefined where it is off; nothing of OpenTelemetry is loaded then.
 */
export async function createTracing(options: TracingOptions): Promise<Tracing | undefined> {
  if (!options.enabled) return undefined;
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }, { Metadata }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/exporter-trace-otlp-grpc"),
    import("@opentelemetry/resources"),
    import("@grpc/grpc-js"),
  ]);
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(options.headers)) metadata.set(name, value);
  const exporter = new OTLPTraceExporter({ url: options.endpoint, metadata });
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ "service.name": options.serviceName }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer("sallyport");

  return {
    observe(method, { traceparent }, { code, ms }) {
      const service = method.parent.typeName;
      // The export of spans would otherwise be told of in spans, without end.
      if (service.startsWith("opentelemetry.")) return;
      const end = Date.now();
      const parent = spanContextOf(traceparent);
      const context = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
      const attributes = {
        "rpc.system": "grpc",
        "rpc.service": service,
        "rpc.method": method.name,
        "rpc.grpc.status_code": code ?? 0,
      };
      const name = `${service}/${method.name}`;
      const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, startTime: end - ms, attributes }, context);
      if (code !== undefined && FAILURES.has(code)) {
        span.setStatus({ code: api.SpanStatusCode.ERROR, message: Code[code] });
      }
      span.end(end);
    },
    flush: () => provider.forceFlush(),
    close: () => provider.shutdown(),
  };
}

/** Reads a traceparent (W3C Trace Context section 3.2); undefined for one that is absent or not valid. */
export function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const parts = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(
    traceparent ?? "",
  );
  if (parts === null) return undefined;
  const [, traceId, spanId, flags] = parts as unknown as [string, string, string, string];
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
