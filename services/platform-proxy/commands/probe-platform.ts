import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProbeRequest, ProbeResponseSchema } from "#proto/platform/v1/snapshot_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { adapterOf, type Context } from "../context.js";

const PROBE_MS = 3_000;

/** Whether a platform answers, and why not. */
export async function probePlatform(
  context: Context,
  request: ProbeRequest,
  call: Call,
): Promise<MessageInitShape<typeof ProbeResponseSchema>> {
  const adapter = adapterOf(context, request.server);
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(PROBE_MS)]);
  const target = await context.targets.of(adapter.server);
  const reason = await adapter.probe(context.http, target, signal);
  return { reachable: reason === undefined, reason: reason ?? "" };
}
