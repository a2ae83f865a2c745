import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandleHttpRequest, HandleHttpResponseSchema } from "#proto/auth/v1/authorization_server_service_pb.js";
import type { AuthorizationServer } from "../oauth/authorization-server.js";

/** Answers an HTTP request that a façade passes on. */
export function handleHttp(
  server: AuthorizationServer,
  request: HandleHttpRequest,
): Promise<MessageInitShape<typeof HandleHttpResponseSchema>> {
  return server.handle(request);
}
