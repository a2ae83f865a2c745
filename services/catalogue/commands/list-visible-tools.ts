import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListVisibleToolsRequest,
  ListVisibleToolsResponseSchema,
} from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { notFound } from "../../shared/rpc/errors.js";
import { standingOf } from "../capabilities.js";
import type { Context } from "../context.js";
import { holdsScope, visibleTools } from "../visibility.js";

/** With the 30 seconds that platform-proxy keeps a snapshot, a list is at most a minute old. */
const KEEP_MS = 30_000;
const KEEP_WITHOUT_SNAPSHOT_MS = 2_000;

/** The tools that the caller may see on a server. */
export async function listVisibleTools(
  context: Context,
  { server }: ListVisibleToolsRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListVisibleToolsResponseSchema>> {
  const tools = context.tools.get(server);
  if (tools === undefined) throw notFound(`there is no server ${server}`);
  // Whose scopes reach nothing here has nothing to ask of the platform either.
  if (!tools.some((tool) => holdsScope(tool, call.caller))) return { keepMs: KEEP_MS };
  const { capabilities, tenants } = await standingOf(context, server, call);
  const { listed, unlisted } = visibleTools(tools, call.caller, capabilities);
  const keepMs = capabilities === undefined ? KEEP_WITHOUT_SNAPSHOT_MS : KEEP_MS;
  return { tools: listed.map((tool) => tool.name), keepMs, unlisted: unlisted.map((tool) => tool.name), tenants };
}
