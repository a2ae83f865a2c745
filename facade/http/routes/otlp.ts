import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import {
  ExportLogsServiceResponseSchema,
  LogsService,
} from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  ExportTraceServiceResponseSchema,
  TraceService,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { Shares } from "../../../services/shared/limits/shares.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import {
  deadlineExceeded,
  permissionDenied,
  resourceExhausted,
  unavailable,
  unimplemented,
} from "../../../services/shared/rpc/errors.js";
import { serviceOf } from "../../../services/shared/rpc/service.js";
import { type Enter, entryError, isUnauthenticated } from "../../admission/enter.js";
import type { Origins } from "../../admission/origins.js";
import { BAD_ORIGIN } from "../../admission/refusals.js";
import type { Unread } from "../body-reader.js";
import { type BodyStream, BodyUnreadError } from "../exchange.js";
import { MAX_READ_BYTES } from "../otlp/cut.js";
import {
  exportAnswer,
  exportFailure,
  isOtlp,
  MAX_LOGS_BYTES,
  OTLP_TYPES,
  type OtlpBody,
  readExport,
  readLogs,
  unreadStatus,
  withLeft,
} from "../otlp/export.js";
import { createExportReader } from "../otlp/reader.js";
import type { Page, PageRequest, Route } from "../route.js";
import { told } from "../rpc/handlers.js";

/** Who takes spans, and who may send them. */
export interface OtlpOptions {
  readonly dispatch: Dispatch;
  readonly enter: Enter;
  readonly origins: Origins;
  readonly shares: Shares;
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
}

/** How long an export may take, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** When to send again what could not be taken, in seconds, where nobody says. */
const RETRY_S = "5";

type Request = PageRequest<BodyStream>;
type Out = Parameters<Dispatch["unary"]>[2];

/** What is sent to a path. */
interface Signal {
  readonly path: string;
  readonly method: typeof TraceService.method.export | typeof LogsService.method.export;
  readonly maxBody: number;
  /** What an export has too many of, in words. */
  readonly what: string;
  /** Reads an export and has it taken. */
  take(request: Request, type: string, outFor: () => Out): Promise<OtlpBody>;
}

/**
 * POST /v1/traces and /v1/logs: spans, and events of the GenAI conventions, from
 * exporters that speak HTTP (OTLP/HTTP), as the user of the bearer token and behind
 * the same gates as over gRPC. Who may not send any is refused before the body is read.
 */
export function otlpRoutes({ dispatch, enter, origins, shares, base }: OtlpOptions): Route[] {
  const reader = createExportReader();
  const packingOf = (request: Request) => ({
    contentType: typeOf(request.headers),
    contentEncoding: request.headers["content-encoding"],
    keep: (more: number) => request.keep(more),
  });
  const signals: readonly Signal[] = [
    {
      ...{ path: "/v1/traces", method: TraceService.method.export, maxBody: MAX_READ_BYTES, what: "spans" },
      async take(request, type, outFor) {
        const read = await readExport(request.body, packingOf(request), reader);
        const answer = await dispatch.unary(TraceService.method.export, read.request, outFor());
        return exportAnswer(ExportTraceServiceResponseSchema, withLeft(answer, read.left), type);
      },
    },
    {
      ...{ path: "/v1/logs", method: LogsService.method.export, maxBody: MAX_LOGS_BYTES, what: "log records" },
      async take(request, type, outFor) {
        const read = await readLogs(request.body, packingOf(request));
        const answer = await dispatch.unary(LogsService.method.export, read, outFor());
        return exportAnswer(ExportLogsServiceResponseSchema, answer, type);
      },
    },
  ];

  async function handle(request: Request, signal: Signal): Promise<Page> {
    const type = typeOf(request.headers);
    if (!origins.allows(request.headers.origin)) return unauthenticatedPage(permissionDenied(BAD_ORIGIN.message), type);
    if (!isOtlp(type)) return unauthenticatedPage(unimplemented(OTLP_TYPES), type, 415);
    const entered = await enter(request, signal.method);
    if ("barred" in entered)
      return { ...failed(entryError(entered), type), unauthenticated: isUnauthenticated(entered) };
    const { known, share } = entered;
    return shares.run(share, async () => {
      let isRead = false;
      const outFor = (): Out => {
        isRead = true;
        const assertion = known.assertions[serviceOf(signal.method) ?? ""] ?? "";
        return { credential: { assertion }, signal: request.signal, deadline: Date.now() + TIMEOUT_MS };
      };
      try {
        return page(200, await signal.take(request, type, outFor));
      } catch (error) {
        if (error instanceof ConnectError)
          return isRead ? failed(told(error), type) : failed(error, type, unreadStatus(error));
        // What is answered then is said by `unread`, which knows why.
        if (error instanceof BodyUnreadError) return unread("too slow", request, signal);
        throw error;
      }
    });
  }

  return signals.map(
    (signal): Route => ({
      ...{ path: `${base}${signal.path}`, methods: ["POST"], admits: true, maxBody: signal.maxBody },
      takes: "stream",
      unread: (why, request) => unread(why, request, signal),
      handle: (request) => handle(request, signal),
    }),
  );
}

function typeOf(headers: PageRequest<unknown>["headers"]): string {
  return headers["content-type"] ?? "";
}

function unread(why: Unread, { headers }: Pick<PageRequest<unknown>, "headers">, { maxBody, what }: Signal): Page {
  const type = typeOf(headers);
  switch (why) {
    case "too long":
      return failed(
        resourceExhausted(`the export is longer than ${maxBody} bytes: send fewer ${what} at once`),
        type,
        413,
      );
    case "too slow":
      return failed(deadlineExceeded(`the ${what} took too long to arrive: send them again`), type, 408);
    case "no room":
      return failed(
        unavailable(
          "the service has no memory for this export now: wait for answers to other exports, then send it again",
        ),
        type,
      );
  }
}

function unauthenticatedPage(error: ConnectError, type: string, status?: number): Page {
  return { ...failed(error, type, status), unauthenticated: true };
}

/** A failure, with the header by which exporters know when to send again (OTLP specification, "OTLP/HTTP Throttling"). */
function failed(error: ConnectError, type: string, status = codeToHttpStatus(error.code)): Page {
  const more: string[] = [];
  if (status === 429 || status === 503) more.push("retry-after", error.metadata.get("retry-after") ?? RETRY_S);
  if (error.code === Code.Unauthenticated) more.push("www-authenticate", "Bearer");
  return page(status, exportFailure(error, type), more);
}

function page(status: number, { contentType, bytes }: OtlpBody, more: readonly string[] = []): Page {
  return { status, headers: ["content-type", contentType, "cache-control", "no-store", ...more], body: bytes };
}
