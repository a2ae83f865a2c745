import { ConnectError } from "@connectrpc/connect";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import type { PlatformServer } from "../shared/platforms.js";
import type { Caller } from "../shared/rpc/call.js";
import { internal } from "../shared/rpc/errors.js";
import type { WriteOutcome } from "../shared/rpc/write-outcome.js";
import { type Adapter, isRead, type RestRequest, type Session } from "./adapter.js";
import type { Document } from "./document.js";
import type { Identities } from "./identity.js";
import { readOf } from "./lib/answers.js";
import { isLeftOpen } from "./lib/outcome.js";

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
  /** What became of the changes of this call if it fails with this error. */
  outcomeOf(error: ConnectError): WriteOutcome;
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
  /** Writes that were sent and whose outcome is open: unanswered, or answered so that nobody knows. */
  let open = 0;
  const heard = <T>(answer: T): T => {
    answered = true;
    return answer;
  };
  const writing = async <T>(send: () => Promise<T>): Promise<T> => {
    open++;
    try {
      const answer = await send();
      changed = true;
      open--;
      return answer;
    } catch (error) {
      if (error instanceof ConnectError && !isLeftOpen(error)) open--;
      throw error;
    }
  };
  return {
    server: adapter.server,
    caller: session.caller,
    signal: session.signal,
    get hasAnswered() {
      return answered;
    },
    outcomeOf(error) {
      if (open > 0 || (changed && isLeftOpen(error))) return Outcome.UNKNOWN;
      return changed ? Outcome.PARTLY : Outcome.UNCHANGED;
    },
    me: async <Me>() => heard((await identities.me(adapter, session)) as Me),
    meAnew: async <Me>() => heard((await identities.meAnew(adapter, session)) as Me),
    async graphql(document, variables) {
      if (adapter.graphql === undefined) throw internal(`the ${adapter.server} platform speaks no GraphQL`);
      if (adapter.deniesDocument?.(document.text) !== false) throw administers(session);
      await identities.me(adapter, session);
      const { graphql } = adapter;
      const send = () => readOf(adapter.server, () => graphql(session, document, variables));
      return heard(await (document.writes ? writing(send) : send()));
    },
    async rest<Body>(request: RestRequest) {
      if (adapter.rest === undefined) throw internal(`the ${adapter.server} platform speaks no REST`);
      if (adapter.deniesRequest?.(request) !== false) throw administers(session);
      await identities.me(adapter, session);
      const { rest } = adapter;
      const send = () => readOf(adapter.server, () => rest<Body>(session, request));
      return heard(await (isRead(request) || request.changesNothing === true ? send() : writing(send)));
    },
  };
}

function administers({ tool, target }: Session) {
  return internal(`${tool} tried to administer the ${target.server} platform, and no tool may do this`);
}
