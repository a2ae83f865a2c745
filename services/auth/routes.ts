import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { AuthorizationServerService } from "#proto/auth/v1/authorization_server_service_pb.js";
import { ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { DelegationService } from "#proto/auth/v1/delegation_service_pb.js";
import { DirectoryService } from "#proto/auth/v1/directory_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { KeyRingService } from "#proto/auth/v1/key_ring_service_pb.js";
import { PersonalDataService } from "#proto/auth/v1/personal_data_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { ServiceAccountService } from "#proto/auth/v1/service_account_service_pb.js";
import { SessionService } from "#proto/auth/v1/session_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { duplex, type Method, unary } from "../shared/rpc/method.js";
import { changeOwnPassword } from "./commands/change-password.js";
import { createApiKey } from "./commands/create-api-key.js";
import { createDelegation } from "./commands/create-delegation.js";
import { createGroup } from "./commands/create-group.js";
import { createServiceAccount } from "./commands/create-service-account.js";
import { createUser } from "./commands/create-user.js";
import { deleteGroup } from "./commands/delete-group.js";
import { deleteServiceAccount } from "./commands/delete-service-account.js";
import { deleteUser } from "./commands/delete-user.js";
import { endConnection } from "./commands/end-connection.js";
import { endDelegation } from "./commands/end-delegation.js";
import { endSession } from "./commands/end-session.js";
import { exchangeAssertion } from "./commands/exchange-assertion.js";
import { exchangeClientAssertion } from "./commands/exchange-client-assertion.js";
import { exchangeDelegation } from "./commands/exchange-delegation.js";
import { getAccessTokenKeys } from "./commands/get-access-token-keys.js";
import { getAssertionKeys } from "./commands/get-assertion-keys.js";
import { getAuditUsage } from "./commands/get-audit-usage.js";
import { getMemberships } from "./commands/get-memberships.js";
import { getPlatformIssuer } from "./commands/get-platform-issuer.js";
import { getUser } from "./commands/get-user.js";
import { getUserNames } from "./commands/get-user-names.js";
import { handleHttp } from "./commands/handle-http.js";
import { listApiKeys } from "./commands/list-api-keys.js";
import { listAuditRecords } from "./commands/list-audit-records.js";
import { listConnections } from "./commands/list-connections.js";
import { listGroups } from "./commands/list-groups.js";
import { listServiceAccounts } from "./commands/list-service-accounts.js";
import { listSessions } from "./commands/list-sessions.js";
import { listSigningKeys } from "./commands/list-signing-keys.js";
import { listUsers } from "./commands/list-users.js";
import { mintPlatformToken } from "./commands/mint-platform-token.js";
import { publish } from "./commands/publish.js";
import { recordAudit } from "./commands/record-audit.js";
import { reportUsage } from "./commands/report-usage.js";
import { resolvePrincipals } from "./commands/resolve-principals.js";
import { revokeApiKey } from "./commands/revoke-api-key.js";
import { revokeSigningKey } from "./commands/revoke-signing-key.js";
import { rotateApiKey } from "./commands/rotate-api-key.js";
import { rotateKeyRing } from "./commands/rotate-key-ring.js";
import { signOutEverywhere } from "./commands/sign-out-everywhere.js";
import { updateApiKey } from "./commands/update-api-key.js";
import { updateGroup } from "./commands/update-group.js";
import { updateServiceAccount } from "./commands/update-service-account.js";
import { updateUser } from "./commands/update-user.js";
import { verifyAudit } from "./commands/verify-audit.js";
import { verifyCredential } from "./commands/verify-credential.js";
import { watch } from "./commands/watch.js";
import { whoAmI } from "./commands/who-am-i.js";
import type { Context } from "./context.js";
import type { Doors } from "./doors.js";
import { erasePersonalData } from "./personal/erase.js";
import { exportPersonalData } from "./personal/export.js";

/** Every rpc of auth and the command that answers it. */
export function routes(context: Context, doors: Doors): readonly Method[] {
  const { external } = doors;
  const credentials = CredentialService.method;
  const delegations = DelegationService.method;
  const events = WatchService.method;
  const users = UserService.method;
  const groups = GroupService.method;
  const keys = ApiKeyService.method;
  const sessions = SessionService.method;
  const connections = ConnectionService.method;
  const accounts = ServiceAccountService.method;
  const platforms = PlatformTokenService.method;
  const rings = KeyRingService.method;
  return [
    unary(credentials.verifyCredential, (request) => verifyCredential(context, request, external)),
    unary(credentials.exchangeAssertion, (request) => exchangeAssertion(context, request)),
    unary(credentials.reportUsage, (request) => reportUsage(context, request)),
    unary(credentials.getAssertionKeys, () => getAssertionKeys(context)),
    unary(credentials.getAccessTokenKeys, () => getAccessTokenKeys(context)),
    unary(connections.listConnections, (request, call) => listConnections(context, request, call)),
    unary(connections.endConnection, (request, call) => endConnection(context, request, call)),
    unary(sessions.listSessions, (request, call) => listSessions(context, request, call)),
    unary(sessions.endSession, (request, call) => endSession(context, request, call)),
    unary(sessions.signOutEverywhere, (request, call) => signOutEverywhere(context, request, call)),
    unary(sessions.changePassword, (request, call) => changeOwnPassword(context, request, call)),
    unary(AuthorizationServerService.method.handleHttp, (request) => handleHttp(doors, request)),
    unary(delegations.createDelegation, (request) => createDelegation(context, request)),
    unary(delegations.exchangeDelegation, (request) => exchangeDelegation(context, request)),
    unary(delegations.endDelegation, (request) => endDelegation(context, request)),
    duplex(events.watch, (requests, call) => watch(context, requests, call)),
    unary(events.publish, (request) => publish(context, request)),
    unary(users.createUser, (request) => createUser(context, request)),
    unary(users.getUser, (request) => getUser(context, request)),
    unary(users.listUsers, (request) => listUsers(context, request)),
    unary(users.updateUser, (request) => updateUser(context, request)),
    unary(users.deleteUser, (request) => deleteUser(context, request)),
    unary(PersonalDataService.method.exportPersonalData, (request) => exportPersonalData(context, request)),
    unary(PersonalDataService.method.erasePersonalData, (request) => erasePersonalData(context, request)),
    unary(DirectoryService.method.resolvePrincipals, (request) => resolvePrincipals(context, request)),
    unary(DirectoryService.method.getUserNames, (request) => getUserNames(context, request)),
    unary(DirectoryService.method.getMemberships, (request) => getMemberships(context, request)),
    unary(groups.createGroup, (request) => createGroup(context, request)),
    unary(groups.listGroups, (request) => listGroups(context, request)),
    unary(groups.updateGroup, (request) => updateGroup(context, request)),
    unary(groups.deleteGroup, (request) => deleteGroup(context, request)),
    unary(keys.createApiKey, (request, call) => createApiKey(context, request, call)),
    unary(keys.listApiKeys, (request, call) => listApiKeys(context, request, call)),
    unary(keys.revokeApiKey, (request, call) => revokeApiKey(context, request, call)),
    unary(keys.updateApiKey, (request, call) => updateApiKey(context, request, call)),
    unary(keys.rotateApiKey, (request, call) => rotateApiKey(context, request, call)),
    unary(keys.whoAmI, (request, call) => whoAmI(context, request, call)),
    unary(AuditService.method.listAuditRecords, (request) => listAuditRecords(context, request)),
    unary(AuditService.method.verifyAudit, (request) => verifyAudit(context, request)),
    unary(AuditService.method.getAuditUsage, (request) => getAuditUsage(context, request)),
    unary(AuditService.method.recordAudit, (request) => recordAudit(context, request)),
    unary(rings.listSigningKeys, (request) => listSigningKeys(context, request)),
    unary(rings.rotateKeyRing, (request) => rotateKeyRing(context, request)),
    unary(rings.revokeSigningKey, (request) => revokeSigningKey(context, request)),
    unary(accounts.createServiceAccount, (request) => createServiceAccount(context, request)),
    unary(accounts.listServiceAccounts, (request) => listServiceAccounts(context, request)),
    unary(accounts.updateServiceAccount, (request) => updateServiceAccount(context, request)),
    unary(accounts.deleteServiceAccount, (request) => deleteServiceAccount(context, request)),
    unary(accounts.exchangeClientAssertion, (request) => exchangeClientAssertion(context, request)),
    unary(platforms.mintPlatformToken, (request, call) => mintPlatformToken(context, request, call)),
    unary(platforms.getPlatformIssuer, () => getPlatformIssuer(context)),
  ];
}
