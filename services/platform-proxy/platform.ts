import type { PlatformServer } from "../shared/platforms.js";
import type { Caller } from "../shared/rpc/call.js";
import { internal } from "../shared/rpc/errors.js";
import { type Adapter, isRead, type RestRequest, type Session } from "./adapter.js";
import type { Document } from "./document.js";
import type { Identities } from "./identity.js";

/**
 * A connected platform, as one caller may use it during one call.
 *
 * Before the first exchange for a caller the platform was asked who it thinks
 * is calling; an answer other than the caller's e-mail refuses the call. Every
 * exchange ends with the call's signal and deadline. What administers the
 * platform is refused before it is sent.
 */
export interface Platform {
  readonly server: PlatformServer;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Something that it said was read in this call. */
  readonly hasAnswered: boolean;
  /** It took a change in this call. */
  readonly hasChanged: boolean;
  /** The platform's answer to "who am I", kept for up to 30 seconds; its shape is the adapter's. */
  me<Me>(): Promise<Me>;
  /** The same, asked anew: for where what is kept contradicts the platform, or the call. */
  meAnew<Me>(): Promise<Me>;
  /** @throws ConnectError with the platform's own refusal in words for the caller. */
  graphql<Data, Variables>(document: Document<Data, Variables>, variables: Variables): Promise<Data>;
  /** @throws ConnectError with the platform's own refusal in words for the caller. */
  rest<Body>(request: RestRequest): Promise<Body>;
}

/** Opens a platform for one caller. */
export function openPlatform(adapter: Adapter, session: Session, identities: Identities): Platform {
  let answered = false;
  let changed = false;
  const heard = <T>(answer: T): T => {
    answered = true;
    return answer;
  };
  return {
    server: adapter.server,
    caller: session.caller,
    signal: session.signal,
    get hasAnswered() {
      return answered;
    },
    get hasChanged() {
      return changed;
    },
    me: async <Me>() => heard((await identities.me(adapter, session)) as Me),
    meAnew: async <Me>() => heard((await identities.meAnew(adapter, session)) as Me),
    async graphql(document, variables) {
      if (adapter.graphql === undefined) throw internal(`the ${adapter.server} platform speaks no GraphQL`);
      if (adapter.deniesDocument?.(document.text) !== false) throw administers(session);
      await identities.me(adapter, session);
      const answer = await adapter.graphql(session, document, variables);
      changed ||= document.writes;
      return heard(answer);
    },
    async rest<Body>(request: RestRequest) {
      if (adapter.rest === undefined) throw internal(`the ${adapter.server} platform speaks no REST`);
      if (adapter.deniesRequest?.(request) !== false) throw administers(session);
      await identities.me(adapter, session);
      const answer = await adapter.rest<Body>(session, request);
      changed ||= !isRead(request);
      return heard(answer);
    },
  };
}

function administers({ tool, target }: Session) {
  return internal(`${tool} tried to administer the ${target.server} platform, and no tool may do this`);
}
