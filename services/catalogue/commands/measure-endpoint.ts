import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MeasureEndpointRequest, MeasureEndpointResponseSchema } from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { notFound } from "../../shared/rpc/errors.js";
import { listCost } from "../../shared/tools/list-cost.js";
import { queryOf } from "../../shared/tools/narrowing.js";
import { narrowingOf } from "../asked-narrowing.js";
import { standingOf } from "../capabilities.js";
import type { Context } from "../context.js";
import { visibleTools } from "../visibility.js";

/** What the list of an endpoint costs the caller's model. */
export async function measureEndpoint(
  context: Context,
  request: MeasureEndpointRequest,
  call: Call,
): Promise<MessageInitShape<typeof MeasureEndpointResponseSchema>> {
  const all = context.tools.get(request.server);
  if (all === undefined) throw notFound(`there is no server ${request.server}`);
  const narrowing = narrowingOf(request, all);
  const { capabilities } = await standingOf(context, request.server, call);
  const { listed } = visibleTools(all, call.caller, capabilities);
  const { tools, bytes, tokens, namesTokens } = listCost(all, listed, narrowing);
  return { query: queryOf(narrowing), tools, bytes, tokens, namesTokens };
}
