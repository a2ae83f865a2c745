import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallerIdentitySchema } from "#proto/auth/v1/credential_service_pb.js";
import type { Caller } from "../shared/rpc/call.js";
import type { UserRecord } from "./store.js";

/**
 * The caller that a user is with these scopes. An administrator whose
 * credential is narrowed below `admin` calls as everybody else.
 */
export function callerOf(user: UserRecord, scopes: ReadonlySet<string>, keyId: string): Caller {
  return {
    id: user._id,
    email: emailOf(user),
    name: user.name,
    admin: user.admin && scopes.has("admin"),
    groups: user.groups,
    scopes,
    keyId,
    service: user.service && user.account === undefined,
    ...(user.account !== undefined && {
      account: { id: user._id, name: user.login, methods: user.account.methods },
    }),
  };
}

/** The e-mail address of a user; "" for a service account. */
export function emailOf({ login, service }: UserRecord): string {
  return service ? "" : login;
}

/** A caller as it travels. */
export function identityOf(caller: Caller): MessageInitShape<typeof CallerIdentitySchema> {
  const { id, email, name, admin, groups, scopes, keyId, service, account } = caller;
  return {
    ...{ id, email, name, admin, keyId, groups: [...groups], scopes: [...scopes] },
    service: service || account?.id === id,
  };
}
