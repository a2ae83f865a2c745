import { McpServerSchema, McpServerService, McpTransport } from "#proto/core/v1/mcp_server_service_pb.js";
import { calledUrlProblem } from "../../../shared/outgoing/named-url.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { unary } from "../../../shared/rpc/method.js";
import { connectionOf, withoutSecret } from "../../objects/connection.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import type { Writer } from "../../objects/writer.js";
import { headersAfter, sealedField } from "./headers.js";
import type { McpServerRecord, SecretHeaderRecord } from "./record.js";
import { testMcpServer } from "./test-mcp-server.js";

const { listMcpServers, getMcpServer, createMcpServer, updateMcpServer, deleteMcpServer, ...more } =
  McpServerService.method;

const WITHOUT =
  "the values of its headers were deleted, and it is disabled: set them with put_headers and enable it with update_mcp_server";

const TRANSPORTS = { streamable_http: McpTransport.STREAMABLE_HTTP, sse: McpTransport.SSE } as const;

function transportOf(word: McpTransport): McpServerRecord["transport"] {
  return word === McpTransport.SSE ? "sse" : "streamable_http";
}

function resealed(header: SecretHeaderRecord, again: (sealed: string, field: string) => string): SecretHeaderRecord {
  const { name, sealed } = header;
  return sealed === "" ? header : { ...header, sealed: again(sealed, sealedField(name)) };
}

function checkUrl(url: string, writer: Writer): string {
  const problem = calledUrlProblem(url);
  if (problem !== undefined) throw invalidArgument(`url ${problem}`);
  writer.checkAddress("url", url);
  return url;
}

/** MCP servers: remote ones whose tools agents may use. */
export const kind = defineKind({
  noun: "MCP server",
  plural: "MCP servers",
  message: McpServerSchema,
  view: (record: McpServerRecord) => ({
    url: record.url,
    transport: TRANSPORTS[record.transport],
    headers: record.headers.map(({ name, ends_with }) => ({ name, ...(ends_with !== "" && { endsWith: ends_with }) })),
    ...connectionOf(record),
    waitingTools: (record.waiting ?? []).map(({ name }) => name),
  }),
  reseal: ({ headers }, again) => (headers.length === 0 ? {} : { headers: headers.map((one) => resealed(one, again)) }),
  list: {
    rpc: listMcpServers,
    without: ["url"],
    hidden: [
      ...(["transport", "headers", "connectionError", "testedAt", "waitingTools"] as const),
      ...(["owner", "sharing", "etag", "createdAt", "updatedAt"] as const),
    ],
  },
  get: { rpc: getMcpServer },
  create: {
    rpc: createMcpServer,
    content: ({ url, transport, headers: put }, writer) => ({
      url: checkUrl(url, writer),
      transport: transportOf(transport),
      headers: headersAfter({ url, headers: [] }, { url, put, remove: [] }, writer),
    }),
  },
  update: {
    rpc: updateMcpServer,
    changes({ name, url = "", transport, putHeaders: put, removeHeaders: remove }, current, writer) {
      const next = url === "" ? current.url : checkUrl(url, writer);
      return {
        ...given({ name }),
        url: next,
        ...(transport !== undefined && { transport: transportOf(transport) }),
        headers: headersAfter(current, { url: next, put, remove }, writer),
        // Nobody has chosen from what is there now.
        ...((next !== current.url || (transport !== undefined && transportOf(transport) !== current.transport)) && {
          tools: null,
          waiting: [],
        }),
        // It said something of what was there before.
        ...((next !== current.url || put.length > 0 || remove.length > 0) && { connection: null }),
      };
    },
  },
  delete: { rpc: deleteMcpServer },
  leaving: {
    reads: ["headers"],
    holdsSecret: ({ headers }) => headers.some(({ sealed }) => sealed !== ""),
    passed: ({ headers }) =>
      headers.every(({ sealed }) => sealed === "")
        ? undefined
        : withoutSecret({ headers: headers.map(({ name }) => ({ name, sealed: "", ends_with: "" })) }, WITHOUT),
  },
  commands: (context) => [unary(more.testMcpServer, (request, call) => testMcpServer(context, request, call))],
});
