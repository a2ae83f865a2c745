import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandleHttpRequest, HandleHttpResponseSchema } from "#proto/auth/v1/authorization_server_service_pb.js";
import type { Doors } from "../doors.js";

/** Answers an HTTP request that a façade passes on. */
export function handleHttp(
  { consoleSignIn, outside, authorizationServer }: Pick<Doors, "consoleSignIn" | "outside" | "authorizationServer">,
  request: HandleHttpRequest,
): Promise<MessageInitShape<typeof HandleHttpResponseSchema>> {
  if (consoleSignIn.isAt(request.target)) return consoleSignIn.handle(request);
  return outside.isAt(request.target) ? outside.handle(request) : authorizationServer.handle(request);
}
