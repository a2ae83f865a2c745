import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { holderOf } from "../../services/shared/limits/holder.js";
import type { Shares } from "../../services/shared/limits/shares.js";
import type { Slots } from "../../services/shared/limits/slots.js";
import type { Log } from "../../services/shared/process/log.js";
import { askWithin } from "../../services/shared/rpc/ask.js";
import type { Dispatch } from "../../services/shared/rpc/dispatch.js";
import { leftOutBy, type Narrower, type Narrowing } from "../../services/shared/tools/narrowing.js";
import type { Tool } from "../../services/shared/tools/tools.js";
import { INVALID_PARAMS, RpcError } from "./json-rpc.js";
import { type Admitted, catalogueFailure, checkScope, type McpContext } from "./server.js";
import { refused, TOO_MANY, tooMany } from "./tool-call.js";

/** Whom the reasons are asked of, and what bounds the asking. */
export interface CallAbsentOptions {
  readonly dispatch: Dispatch;
  readonly shares: Shares;
  readonly slots: Slots;
  readonly isRevoked: McpContext["isRevoked"];
  readonly log: Log;
}

const TIMEOUT_MS = 5_000;

/** Builds what answers calls of tools that the caller's view leaves out; nothing is asked for a name that there is no tool of. */
export function createCallAbsent(options: CallAbsentOptions): McpContext["callAbsent"] {
  const { dispatch, shares, slots, isRevoked, log } = options;

  async function reasonOf({ known, server }: Admitted, tool: string): Promise<string> {
    const { reason } = await askWithin(TIMEOUT_MS, (deadline) =>
      dispatch.unary(
        EndpointService.method.explainTool,
        { server: server.name, tool },
        { credential: { assertion: known.assertions.catalogue ?? "" }, deadline },
      ),
    );
    return reason;
  }

  return async (admitted, name) => {
    const { known, server } = admitted;
    const served = server.tools.find(({ tool }) => tool.name === name);
    if (served === undefined) {
      record("unknown_tool", name, admitted, log);
      throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name.slice(0, MAX_SHOWN)}`);
    }
    const narrowed = narrowing(served.tool, admitted.options);
    if (narrowed !== undefined) {
      record("narrowed", name, admitted, log);
      return refused(served.tool, narrowed);
    }
    // Who signed in can be asked for more; an API key has what it has.
    if (known.resource !== undefined) checkScope(served, admitted);
    const { caller } = known;
    const share = shares.of(caller);
    const wait = shares.take(share);
    if (wait > 0) throw tooMany(wait, served.tool);
    const slot = slots.take(holderOf(caller));
    if (typeof slot === "string") return refused(served.tool, TOO_MANY);
    share.active++;
    try {
      const reason = await reasonOf(admitted, name);
      if (reason === "") return served;
      record("permission_denied", name, admitted, log);
      return refused(served.tool, reason);
    } catch (error) {
      throw catalogueFailure(error, known, isRevoked);
    } finally {
      share.active--;
      slot.free(0);
    }
  };
}

/** Longest name that is repeated to who sent it, in characters. */
const MAX_SHOWN = 128;

function record(code: string, name: string, { known, server }: Admitted, log: Log): void {
  const { id: caller, keyId: key } = known.caller;
  const tool = name.slice(0, MAX_SHOWN);
  log.info({ audit: true, server: server.name, tool, caller, key, code }, "a tool call was refused");
}

/** Why the URL leaves a tool out; undefined if it does not. */
function narrowing(tool: Tool, options: Narrowing): string | undefined {
  const narrower = leftOutBy(tool, options);
  return narrower === undefined ? undefined : WHY[narrower](tool);
}

const WHY: Readonly<Record<Narrower, (tool: Tool) => string>> = {
  readonly: ({ name }) =>
    `${name} is not available: readonly=1 in the URL of this connection keeps only tools that change nothing. The person who configured the URL can remove it.`,
  toolsets: ({ name, toolset }) =>
    `${name} is not available: toolsets= in the URL of this connection does not name the toolset ${toolset}. The person who configured the URL can add it.`,
  exclude: ({ name }) =>
    `${name} is not available: exclude= in the URL of this connection names it or one of its toolsets. The person who configured the URL can remove that name.`,
};
