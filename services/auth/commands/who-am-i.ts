import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WhoAmIRequest, WhoAmIResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { identityOf } from "../identity.js";

/** Says who is calling and what the credential reaches. */
export function whoAmI(
  _context: Context,
  _request: WhoAmIRequest,
  { caller }: Call,
): MessageInitShape<typeof WhoAmIResponseSchema> {
  return { caller: identityOf(caller) };
}
