import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { DirectoryService } from "#proto/auth/v1/directory_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { duplex, type Method, unary } from "../shared/rpc/method.js";
import { createApiKey } from "./commands/create-api-key.js";
import { createGroup } from "./commands/create-group.js";
import { createUser } from "./commands/create-user.js";
import { deleteGroup } from "./commands/delete-group.js";
import { exchangeAssertion } from "./commands/exchange-assertion.js";
import { getUser } from "./commands/get-user.js";
import { listApiKeys } from "./commands/list-api-keys.js";
import { listGroups } from "./commands/list-groups.js";
import { listUsers } from "./commands/list-users.js";
import { mintPlatformToken } from "./commands/mint-platform-token.js";
import { publish } from "./commands/publish.js";
import { reportUsage } from "./commands/report-usage.js";
import { resolvePrincipals } from "./commands/resolve-principals.js";
import { revokeApiKey } from "./commands/revoke-api-key.js";
import { updateGroup } from "./commands/update-group.js";
import { updateUser } from "./commands/update-user.js";
import { verifyCredential } from "./commands/verify-credential.js";
import { whoAmI } from "./commands/who-am-i.js";
import type { Parts } from "./parts.js";

/** Every rpc of auth, with the command that answers it. */
export function routes(parts: Parts): readonly Method[] {
  const { hub, assertionRing, platformRing, platformTokens } = parts;
  const credentials = CredentialService.method;
  const users = UserService.method;
  const groups = GroupService.method;
  const keys = ApiKeyService.method;
  const platforms = PlatformTokenService.method;
  return [
    unary(credentials.verifyCredential, (request) => verifyCredential(parts, request)),
    unary(credentials.exchangeAssertion, (request) => exchangeAssertion(parts, request)),
    unary(credentials.reportUsage, (request) => reportUsage(parts, request)),
    unary(credentials.getAssertionKeys, () => ({ jwks: JSON.stringify(assertionRing.jwks()) })),
    duplex(WatchService.method.watch, (requests, { signal }) => hub.watch(requests, signal)),
    unary(WatchService.method.publish, (request) => publish(parts, request)),
    unary(users.createUser, (request) => createUser(parts, request)),
    unary(users.getUser, (request) => getUser(parts, request)),
    unary(users.listUsers, (request) => listUsers(parts, request)),
    unary(users.updateUser, (request) => updateUser(parts, request)),
    unary(DirectoryService.method.resolvePrincipals, (request) => resolvePrincipals(parts, request)),
    unary(groups.createGroup, (request) => createGroup(parts, request)),
    unary(groups.listGroups, (request) => listGroups(parts, request)),
    unary(groups.updateGroup, (request) => updateGroup(parts, request)),
    unary(groups.deleteGroup, (request) => deleteGroup(parts, request)),
    unary(keys.createApiKey, (request, call) => createApiKey(parts, request, call)),
    unary(keys.listApiKeys, (request, call) => listApiKeys(parts, request, call)),
    unary(keys.revokeApiKey, (request, call) => revokeApiKey(parts, request, call)),
    unary(keys.whoAmI, (_request, call) => whoAmI(call)),
    unary(platforms.mintPlatformToken, (request, call) => mintPlatformToken(parts, request, call)),
    unary(platforms.getPlatformIssuer, () => ({
      issuer: platformTokens.issuer,
      jwks: JSON.stringify(platformRing.jwks()),
    })),
  ];
}
