import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { createAuthService } from "../../../services/auth/service.js";
import { COLLECTIONS } from "../../../services/auth/store.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import type { AuthenticatingService } from "../../../services/shared/rpc/service.js";
import type { DocCollection, Store } from "../../../services/shared/store/store.js";
import { titled } from "../../support/titled.js";
import { backends } from "../shared/store/backends.js";
import { SEAL, type Stack, startStack } from "./stack.js";

const keys = ApiKeyService.method;
const unavailable = expect.objectContaining({ code: Code.Unavailable });

describe.each(backends)("an auth process that was replaced, on $title", ({ open, missing }) => {
  let opened: Awaited<ReturnType<typeof open>>;
  let older: Stack;
  let newer: { readonly service: AuthenticatingService; readonly dispatch: Dispatch };
  /** Set: the older process still believes what it read of its leadership, as one does that froze just then. */
  let frozen: boolean;

  beforeEach(async () => {
    if (missing !== undefined) return;
    frozen = false;
    opened = await open();
    older = await startStack({ store: freezable(opened.store, () => frozen) });
  });
  afterEach(async () => {
    if (missing !== undefined) return;
    await newer.service.close();
    await older.service.close();
    await opened.close();
  });

  async function takeOver(): Promise<void> {
    const options = { baseUrl: "https://sallyport.example/", log: silentLog, fenceMs: 0 };
    const service = await createAuthService({ store: opened.store, seal: SEAL, ...options });
    const dispatch = mountInProcess(service.methods, { authenticator: service.authenticator, log: silentLog });
    newer = { service, dispatch };
  }

  async function newKey(): Promise<{ readonly id: string; readonly token: string }> {
    const { key, token } = await older.as(older.secrets.analyst.apiKey, keys.createApiKey, { name: "Key" });
    return { id: key?.id as string, token };
  }

  /** What the newer process says of a token: "good", or why it is refused. */
  async function newerSays(token: string): Promise<string> {
    const credential = { authorization: `Bearer ${older.secrets.serviceKey}` };
    const { outcome } = await newer.dispatch.unary(
      CredentialService.method.verifyCredential,
      { token },
      { credential },
    );
    return outcome.case === "refused" ? outcome.value.reason : "good";
  }

  const dump = async (): Promise<string> => {
    const all = await Promise.all(COLLECTIONS.map(({ name }) => opened.store.collection(name).find({}).toArray()));
    return JSON.stringify(all);
  };

  test.skipIf(missing)(titled("writes nothing at all, whatever it is asked", missing), async () => {
    const { id, token } = await newKey();
    const admin = older.secrets.admin.apiKey;
    const { group } = await older.as(admin, GroupService.method.createGroup, { name: "Team" });
    const { user } = await older.as(admin, UserService.method.getUser, { email: "analyst@example.org" });
    await takeOver();
    const before = await dump();
    const asAdmin: [DescMethodUnary, Record<string, unknown>][] = [
      [keys.revokeApiKey, { id }],
      [keys.createApiKey, { name: "Late" }],
      [UserService.method.createUser, { email: "late@example.org", name: "Late" }],
      [UserService.method.updateUser, { id: user?.id, disabled: true }],
      [GroupService.method.createGroup, { name: "Late" }],
      [GroupService.method.updateGroup, { id: group?.id, name: "Late", addUserIds: [user?.id] }],
      [GroupService.method.deleteGroup, { id: group?.id }],
    ];
    for (const [method, request] of asAdmin) {
      await expect(older.as(admin, method, request), method.name).rejects.toEqual(unavailable);
    }
    const internal: [DescMethodUnary, Record<string, unknown>][] = [
      [CredentialService.method.reportUsage, { usages: [{ keyId: id, uses: 3 }] }],
      [WatchService.method.publish, { kind: EventKind.SETTING, id: "core" }],
    ];
    for (const [method, request] of internal) {
      await expect(older.as(older.secrets.serviceKey, method, request), method.name).rejects.toEqual(unavailable);
    }
    // It counted uses itself, and has them no longer to write.
    await older.service.close();
    expect(await dump()).toBe(before);
    expect(await newerSays(token)).toBe("good");
  });

  test.skipIf(missing)(
    titled("does not revoke a key that the newer one vouches for, even where it froze before the write", missing),
    async () => {
      const { id, token } = await newKey();
      await takeOver();
      expect(await newerSays(token)).toBe("good");
      frozen = true;
      await expect(older.as(older.secrets.admin.apiKey, keys.revokeApiKey, { id })).rejects.toEqual(unavailable);
      expect((await older.records.keys.findOne({ _id: id }))?.revoked_at).toBeNull();
      expect(await newerSays(token)).toBe("good");
      const { user } = await older.as(older.secrets.admin.apiKey, UserService.method.getUser, {
        email: "analyst@example.org",
      });
      const disabling = older.as(older.secrets.admin.apiKey, UserService.method.updateUser, {
        id: user?.id as string,
        disabled: true,
      });
      await expect(disabling).rejects.toEqual(unavailable);
      expect(await newerSays(token)).toBe("good");
    },
  );

  test.skipIf(missing)(
    titled("has revoked everywhere what it says it has: the newer one vouches for what it left", missing),
    async () => {
      const { id, token } = await newKey();
      await takeOver();
      frozen = true;
      await older.as(older.secrets.admin.apiKey, keys.revokeApiKey, { id });
      expect(await newerSays(token)).toBe("revoked");
    },
  );
});

/** A store whose records of leadership look as they did at first, while it is frozen. */
function freezable(store: Store, isFrozen: () => boolean): Store {
  const collection: Store["collection"] = (name) => {
    const real = store.collection(name) as unknown as DocCollection<{ readonly _id: string; readonly n: number }>;
    if (name !== "auth_state") return real as never;
    return new Proxy(real, {
      get(target, member) {
        if (member === "findOne" && isFrozen()) return async () => ({ _id: "epoch", n: 1 });
        const value = Reflect.get(target, member) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    }) as never;
  };
  return {
    collection,
    ensure: store.ensure.bind(store),
    ping: store.ping.bind(store),
    place: store.place.bind(store),
    unwritable: store.unwritable.bind(store),
    close: store.close.bind(store),
  };
}
