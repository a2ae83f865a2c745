import { DelegationService } from "#proto/auth/v1/delegation_service_pb.js";
import type { Call, Caller } from "../shared/rpc/call.js";
import type { Peers } from "../shared/rpc/peers.js";

/** How work that goes on without its caller acts as that caller. */
export interface Delegations {
  /** What stands for the caller of this call from now on; a secret. */
  create(call: Call, options: DelegationOptions): Promise<string>;
  /**
   * Who it stands for, as auth's records are now.
   *
   * @throws ConnectError unauthenticated, where key or user is no longer good; unavailable, where nobody can say.
   */
  exchange(delegation: string): Promise<Acting>;
  /** Ends it. */
  end(delegation: string): Promise<void>;
}

/** How long a delegation is good. */
export interface DelegationOptions {
  readonly ttlSeconds: number;
  /** It outlives the API key that was presented. */
  readonly withoutKey?: boolean;
}

/** Somebody in whose name something is done, and the assertion for this very service that says so. */
export interface Acting {
  readonly caller: Caller;
  readonly assertion: string;
}

/** Delegations as auth keeps them. */
export function createDelegations(peers: Peers): Delegations {
  const { createDelegation, exchangeDelegation, endDelegation } = DelegationService.method;
  return {
    async create({ assertion }, options) {
      const request = { subjectToken: assertion, withoutKey: false, ...options };
      return (await peers.callAsService(createDelegation, request)).delegation;
    },
    async exchange(delegation) {
      const request = { delegation, audience: "core-objects" };
      const { caller, assertion } = await peers.callAsService(exchangeDelegation, request);
      return { caller: { ...caller!, scopes: new Set(caller!.scopes) }, assertion };
    },
    async end(delegation) {
      await peers.callAsService(endDelegation, { delegation });
    },
  };
}
