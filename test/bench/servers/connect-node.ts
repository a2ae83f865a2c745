// The floor of gRPC: connect-node alone, which returns the same message.

import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { AgentService, ListAgentsResponseSchema } from "#proto/core/v1/agent_service_pb.js";
import { serveAsAsked } from "./own.js";

/** What it answers. */
export interface ConnectNodeAsked {
  /** A ListAgentsResponse in base64. */
  readonly response: string;
}

function listen({ response }: ConnectNodeAsked): Promise<number> {
  const message = fromBinary(ListAgentsResponseSchema, Buffer.from(response, "base64"));
  const server = createServer(
    connectNodeAdapter({ routes: (router) => router.service(AgentService, { listAgents: () => message }) }),
  );
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

serveAsAsked(listen);
