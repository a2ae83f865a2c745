import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandleHttpRequest, HandleHttpResponseSchema } from "#proto/auth/v1/authorization_server_service_pb.js";
import type { Context } from "../context.js";

/** Answers an HTTP request that a façade passes on. */
export function handleHttp(
  { authorizationServer }: Context,
  request: HandleHttpRequest,
): Promise<MessageInitShape<typeof HandleHttpResponseSchema>> {
  return authorizationServer.handle(request);
}
