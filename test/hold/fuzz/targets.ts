import { fuzzDocuments } from "./documents.js";
import { fuzzFilters } from "./filters.js";
import { fuzzGrpcFrames } from "./grpc-frames.js";
import { fuzzJsonRpc } from "./json-rpc.js";
import { fuzzMcpServers } from "./mcp-server.js";
import { fuzzOauth } from "./oauth.js";
import { fuzzPlatformAnswers } from "./platform-answers.js";
import { fuzzReader, readers } from "./readers.js";
import type { FuzzTarget } from "./target.js";

/** Everything that reads what comes from outside, by its name. */
export async function targets(): Promise<readonly (readonly [name: string, start: () => Promise<FuzzTarget>])[]> {
  const own = await readers();
  return [
    ["JSON-RPC", fuzzJsonRpc],
    ["gRPC frames", fuzzGrpcFrames],
    ["OAuth requests", fuzzOauth],
    ...own.map((reader) => [reader.name, async () => fuzzReader(reader)] as const),
    ["filters", fuzzFilters],
    ["PDF", () => fuzzDocuments("pdf")],
    ["docx", () => fuzzDocuments("docx")],
    ["platform answers", fuzzPlatformAnswers],
    ["answers of MCP servers", fuzzMcpServers],
  ];
}
