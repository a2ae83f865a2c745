import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetSnapshotRequest, GetSnapshotResponseSchema } from "#proto/platform/v1/snapshot_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { shorten } from "../../shared/tools/shorten.js";
import { adapterOf, type Context, openSession } from "../context.js";

/** What a platform, and the caller on it, can do; kept for up to 30 seconds. */
export async function getSnapshot(
  context: Context,
  request: GetSnapshotRequest,
  call: Call,
): Promise<MessageInitShape<typeof GetSnapshotResponseSchema>> {
  const adapter = adapterOf(context, request.server);
  const session = await openSession(context, adapter.server, "GetSnapshot", call);
  const { version, edition, capabilities, tenants = [] } = await context.identities.snapshot(adapter, session);
  const isTold = tenants.length > 1 && tenants.length <= MAX_TENANTS;
  // Each result of a tool repeats a name.
  const named = isTold ? tenants.map(({ id, name }) => ({ id, name: shorten(name) })) : [];
  return { version, edition, capabilities: [...capabilities], tenants: named };
}

/** Every list of tools asks for them, and every caller has their own. */
const MAX_TENANTS = 500;
