import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
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
  OTLP_TYPES,
  type OtlpBody,
  readExport,
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

const METHOD = TraceService.method.export;
/** How long an export may take, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** When to send again what could not be taken, in seconds, where nobody says. */
const RETRY_S = "5";

/**
 * POST /v1/traces: spans from exporters that speak HTTP (OTLP/HTTP), as the user of
 * the bearer token and behind the same gates as over gRPC. Who may not send any is
 * refused before the body is read.
 */
export function otlpRoutes({ dispatch, enter, origins, shares, base }: OtlpOptions): Route[] {
  const reader = createExportReader();

  async function handle(request: PageRequest<BodyStream>): Promise<Page> {
    const type = typeOf(request.headers);
    if (!origins.allows(request.headers.origin)) return unauthenticatedPage(permissionDenied(BAD_ORIGIN.message), type);
    if (!isOtlp(type)) return unauthenticatedPage(unimplemented(OTLP_TYPES), type, 415);
    const entered = await enter(request, METHOD);
    if ("barred" in entered)
      return { ...failed(entryError(entered), type), unauthenticated: isUnauthenticated(entered) };
    const { known, share } = entered;
    return shares.run(share, async () => {
      try {
        const assertion = known.assertions[serviceOf(METHOD) ?? ""] ?? "";
        return await taken(request, type, assertion);
      } catch (error) {
        if (error instanceof ConnectError) return failed(told(error), type);
        // What is answered then is said by `unread`, which knows why.
        if (error instanceof BodyUnreadError) return unread("too slow", request);
        throw error;
      }
    });
  }

  async function taken(request: PageRequest<BodyStream>, type: string, assertion: string): Promise<Page> {
    let read: Awaited<ReturnType<typeof readExport>>;
    try {
      const contentEncoding = request.headers["content-encoding"];
      const packing = { contentType: type, contentEncoding, keep: (more: number) => request.keep(more) };
      read = await readExport(request.body, packing, reader);
    } catch (error) {
      if (error instanceof ConnectError) return failed(error, type, unreadStatus(error));
      throw error;
    }
    const { signal } = request;
    const out = { credential: { assertion }, signal, deadline: Date.now() + TIMEOUT_MS };
    const answer = await dispatch.unary(METHOD, read.request, out);
    return page(200, exportAnswer(withLeft(answer, read.left), type));
  }

  const path = `${base}/v1/traces`;
  return [{ path, methods: ["POST"], admits: true, takes: "stream", maxBody: MAX_READ_BYTES, unread, handle }];
}

function typeOf(headers: PageRequest<unknown>["headers"]): string {
  return headers["content-type"] ?? "";
}

function unread(why: Unread, { headers }: Pick<PageRequest<unknown>, "headers">): Page {
  const type = typeOf(headers);
  switch (why) {
    case "too long":
      return failed(
        resourceExhausted(`the export is longer than ${MAX_READ_BYTES} bytes: send fewer spans at once`),
        type,
        413,
      );
    case "too slow":
      return failed(deadlineExceeded("the spans took too long to arrive: send them again"), type, 408);
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
