import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isObject,
  isRequestId,
  MAX_ID_LENGTH,
  type RequestId,
  type RpcRequest,
} from "./json-rpc.js";

/** The versions of the modern era: no handshake, every request carries its version. */
export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];
/** The versions of the legacy era, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/** The member of `_meta` by which a message claims its version (MCP 2026-07-28, basic/versioning). */
export const PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
/** The member of `_meta` that says what the client can (MCP 2026-07-28, basic/versioning). */
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

const MAX_BATCH = 100;
const BAD_ID = `Invalid request: id must be a string of at most ${MAX_ID_LENGTH} characters or an integer`;
const BATCH_VERSION = "2025-03-26";

/** What a body is, by the two eras' rules. */
export type Classified =
  | { readonly kind: "modern"; readonly request: RpcRequest }
  | { readonly kind: "legacy"; readonly request: RpcRequest }
  | { readonly kind: "batch"; readonly elements: readonly unknown[] }
  /** Nothing to answer: 202 without a body. */
  | { readonly kind: "accepted" }
  /** 400, a JSON-RPC error. */
  | {
      readonly kind: "refused";
      readonly code: number;
      readonly message: string;
      readonly id: RequestId | undefined;
    };

/**
 * Decides the era of a body. The body decides, the header
 * MCP-Protocol-Version is only cross-checked; nothing is remembered between
 * requests (MCP 2026-07-28, basic/versioning, "Backward Compatibility").
 */
export function classify(body: unknown, headerVersion: string | undefined): Classified {
  const modernHeader = headerVersion !== undefined && isModern(headerVersion);
  if (Array.isArray(body)) return classifyBatch(body, headerVersion, modernHeader);

  const id = isObject(body) && isRequestId(body.id) ? body.id : undefined;
  const refused = (code: number, message: string): Classified => ({ kind: "refused", code, message, id });
  if (!isObject(body) || body.jsonrpc !== "2.0")
    return refused(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"');
  const { method } = body;
  if (typeof method !== "string") {
    if (!("result" in body) && !("error" in body))
      return refused(INVALID_REQUEST, "Invalid request: method is missing");
    if (!modernHeader) return { kind: "accepted" };
    return {
      kind: "refused",
      code: INVALID_REQUEST,
      message: "Invalid request: this version takes no responses from clients",
      id: undefined,
    };
  }
  if (!("id" in body)) return { kind: "accepted" };
  if (id === undefined) return refused(INVALID_REQUEST, BAD_ID);

  const request: RpcRequest = { id, method, params: body.params };
  const claimed = claimOf(body);
  if (claimed !== undefined) {
    const handshake = method === "initialize" && !(typeof claimed.version === "string" && isModern(claimed.version));
    return { kind: handshake ? "legacy" : "modern", request };
  }
  if (modernHeader) {
    return method === "initialize"
      ? refused(
          HEADER_MISMATCH,
          "Header mismatch: the version in MCP-Protocol-Version has no initialize; only earlier versions have it",
        )
      : refused(INVALID_PARAMS, `Invalid params: _meta must have ${PROTOCOL_VERSION_KEY} and ${CAPABILITIES_KEY}`);
  }
  if (headerVersion !== undefined && method !== "initialize" && !LEGACY_VERSIONS.includes(headerVersion)) {
    return refused(INVALID_REQUEST, unknownVersion(headerVersion));
  }
  return { kind: "legacy", request };
}

function classifyBatch(elements: readonly unknown[], version: string | undefined, modernHeader: boolean): Classified {
  const refused = (message: string): Classified => ({
    kind: "refused",
    code: INVALID_REQUEST,
    message: `Invalid request: ${message}`,
    id: undefined,
  });
  if (modernHeader || elements.some((element) => claimOf(element) !== undefined)) {
    return refused("version 2026-07-28 has no batches; send one message per request");
  }
  if (elements.length === 0) return refused("the batch is empty");
  if (elements.length > MAX_BATCH) return refused(`a batch holds at most ${MAX_BATCH} messages`);
  if (elements.some((element) => isObject(element) && element.method === "initialize")) {
    return refused("initialize cannot be part of a batch");
  }
  if (version !== undefined && version !== BATCH_VERSION) {
    return refused(`only version ${BATCH_VERSION} has batches; send one message per request`);
  }
  return { kind: "batch", elements };
}

function isModern(version: string): boolean {
  return version >= "2026-07-28";
}

/** The version that a message claims for itself; undefined where it makes no claim. */
function claimOf(message: unknown): { readonly version: unknown } | undefined {
  if (!isObject(message) || !isObject(message.params)) return undefined;
  const { _meta: meta } = message.params;
  return isObject(meta) && PROTOCOL_VERSION_KEY in meta ? { version: meta[PROTOCOL_VERSION_KEY] } : undefined;
}

function unknownVersion(version: string): string {
  const supported = [...MODERN_VERSIONS, ...LEGACY_VERSIONS].join(", ");
  return `Unsupported protocol version ${JSON.stringify(version.slice(0, 40))}; supported versions are ${supported}`;
}
