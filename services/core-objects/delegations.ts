import { DelegationService } from "#proto/auth/v1/delegation_service_pb.js";
import type { Call, Caller } from "../shared/rpc/call.js";
import type { Peers } from "../shared/rpc/peers.js";

/** How work that goes on without its caller acts as that caller. */
export interface Delegations {
  /** What stands for the caller of this call from now on; a secret. */
  create(call: Call, options: DelegationOptions): Promise<Delegation>;
  /**
   * Who it stands for, as auth's records are now.
   *
   * @param run the id of the run that acts with it; "" while none does.
   * @throws ConnectError unauthenticated, where key or user is no longer good; unavailable, where nobody can say.
   */
  exchange(delegation: string, run: string): Promise<Acting>;
  /** Ends it. */
  end(delegation: string): Promise<void>;
}

/** How long a delegation is good. */
export interface DelegationOptions {
  readonly ttlSeconds: number;
  /** It outlives the API key that was presented. */
  readonly withoutKey?: boolean;
  /** What is done on a schedule: it ends when the key that set it is revoked. */
  readonly schedule?: { readonly id: string; readonly name: string };
}

/** The API key that a schedule was set with. */
export interface SettingKey {
  readonly id: string;
  readonly name: string;
}

/** What stands for somebody. */
export interface Delegation {
  /** A secret. */
  readonly delegation: string;
  /** Of a schedule; null if none was presented. */
  readonly key: SettingKey | null;
}

/** Somebody in whose name something is done, and the assertion for this very service that says so. */
export interface Acting {
  readonly caller: Caller;
  readonly assertion: string;
  /** Of a schedule: the key that set it, or took the place of that key. */
  readonly key: SettingKey | null;
}

/** Delegations as auth keeps them. */
export function createDelegations(peers: Peers): Delegations {
  const { createDelegation, exchangeDelegation, endDelegation } = DelegationService.method;
  return {
    async create({ assertion }, { ttlSeconds, withoutKey = false, schedule }) {
      const named = schedule && { scheduleId: schedule.id, scheduleName: schedule.name };
      const request = { subjectToken: assertion, ttlSeconds, withoutKey, ...named };
      const { delegation, key } = await peers.callAsService(createDelegation, request);
      return { delegation, key: keyOf(key) };
    },
    async exchange(delegation, run) {
      const request = { delegation, audience: "core-objects", run };
      const { caller, assertion, key } = await peers.callAsService(exchangeDelegation, request);
      const acting = { ...caller!, scopes: new Set(caller!.scopes) };
      return { caller: run === "" ? acting : { ...acting, run }, assertion, key: keyOf(key) };
    },
    async end(delegation) {
      await peers.callAsService(endDelegation, { delegation });
    },
  };
}

function keyOf(key: SettingKey | undefined): SettingKey | null {
  return key === undefined ? null : { id: key.id, name: key.name };
}
