import { useQuery } from "@connectrpc/connect-query";
import { ApiKeyService } from "#api/auth/v1/api_key_service_pb";
import type { CallerIdentity } from "#api/auth/v1/credential_service_pb";

/** Who is signed in, and what they may do; undefined until the service has said so. */
export function useCaller(): CallerIdentity | undefined {
  return useQuery(ApiKeyService.method.whoAmI, {}, { staleTime: 60_000 }).data?.caller;
}
