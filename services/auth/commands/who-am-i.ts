import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WhoAmIResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { identityOf } from "../identity.js";

export function whoAmI({ caller }: Call): MessageInitShape<typeof WhoAmIResponseSchema> {
  return { caller: identityOf(caller) };
}
