import { EndpointAvailability, EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { BearerCredentials } from "../../services/shared/credentials/credentials.js";
import type { Log } from "../../services/shared/process/log.js";
import { askWithin } from "../../services/shared/rpc/ask.js";
import type { Credential } from "../../services/shared/rpc/call.js";
import type { Dispatch } from "../../services/shared/rpc/dispatch.js";
import type { HttpRefusal } from "../admission/refusals.js";

/** Whether an endpoint serves: undefined where it does, else what its callers are told. */
export type EndpointState = HttpRefusal | undefined;

/** Knows the state of every endpoint. */
export interface EndpointStates {
  /** From memory while the lease is held, else from the catalogue. */
  of(server: string): EndpointState | Promise<EndpointState>;
  /** Listens to events no more. */
  close(): void;
}

/** Whom the states are asked of, and until when they hold. */
export interface EndpointStatesOptions {
  readonly dispatch: Dispatch;
  /** The façade's own credential. */
  readonly self: Credential;
  readonly credentials: Pick<BearerCredentials, "leased" | "onEvent">;
  readonly log: Log;
}

const TIMEOUT_MS = 2_000;

/**
 * Keeps the states in memory under the lease. A change of a switch or platform
 * is acknowledged only when the states were read again; where that fails they
 * are forgotten, and the next request asks.
 */
export function createEndpointStates({ dispatch, self, credentials, log }: EndpointStatesOptions): EndpointStates {
  type States = ReadonlyMap<string, EndpointAvailability>;
  let kept: States | undefined;
  let asking: Promise<States> | undefined;
  let epoch = 0;

  async function ask(): Promise<States> {
    const asked = epoch;
    const { endpoints } = await askWithin(TIMEOUT_MS, (deadline) =>
      dispatch.unary(EndpointService.method.getEndpointStates, {}, { credential: self, deadline }),
    );
    const states = new Map(endpoints.map((endpoint) => [endpoint.server, endpoint.availability]));
    if (asked === epoch && credentials.leased()) kept = states;
    return states;
  }

  const close = credentials.onEvent(async ({ kind }) => {
    if (kind !== "setting" && kind !== "platform" && kind !== "reset") return;
    epoch++;
    kept = undefined;
    asking = undefined;
    await ask().catch((error: unknown) => log.warn({ err: error }, "the endpoint states cannot be read"));
  });

  async function asked(server: string): Promise<EndpointState> {
    const mine = asking ?? ask();
    asking = mine;
    try {
      return stateOf(server, await mine);
    } catch (error) {
      log.warn({ err: error }, "the endpoint states cannot be read");
      return UNAVAILABLE;
    } finally {
      if (asking === mine) asking = undefined;
    }
  }

  return {
    close,
    of: (server) => (kept !== undefined && credentials.leased() ? stateOf(server, kept) : asked(server)),
  };
}

const UNAVAILABLE: HttpRefusal = {
  status: 503,
  word: "unavailable",
  message: "The state of this endpoint cannot be read at the moment: try again in a few seconds.",
  headers: ["retry-after", "2"],
};

const CLOSED: Readonly<Record<number, HttpRefusal>> = {
  [EndpointAvailability.PLATFORM_SERVERS_OFF]: {
    status: 403,
    word: "platform_servers_off",
    message:
      "The platform MCP servers are switched off: an administrator can switch them on (npm run -s cli -- settings set platform-servers on).",
  },
  [EndpointAvailability.NOT_REGISTERED]: {
    status: 404,
    word: "platform_not_registered",
    message:
      "No platform of this type is registered: an administrator can register one, or configure its URL (docs/operations.md).",
  },
  [EndpointAvailability.CORE_OFF]: {
    status: 403,
    word: "core_off",
    message:
      "The core MCP server is not enabled: an administrator can switch it on (npm run -s cli -- settings set core on).",
  },
  [EndpointAvailability.AI_OFF]: {
    status: 403,
    word: "ai_off",
    message:
      "AI features are switched off, and the core MCP server needs them: an administrator can switch them on (npm run -s cli -- settings set ai on).",
  },
};

function stateOf(server: string, states: ReadonlyMap<string, EndpointAvailability>): EndpointState {
  const availability = states.get(server) ?? EndpointAvailability.NOT_REGISTERED;
  if (availability === EndpointAvailability.OPEN) return undefined;
  return CLOSED[availability] ?? UNAVAILABLE;
}
