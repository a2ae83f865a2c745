import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ListSessionsRequest, ListSessionsResponseSchema } from "#proto/auth/v1/session_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { narrowedKeyOf, ownerOf } from "../key-owner.js";

/** Lists where a person is signed in, the newest session first; to a narrowed key nothing. */
export async function listSessions(
  context: Context,
  request: ListSessionsRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListSessionsResponseSchema>> {
  const { _id } = await ownerOf(context, request, call);
  const isNarrowed =
    !call.caller.scopes.has("admin") && (await narrowedKeyOf(context.store, call.caller)) !== undefined;
  if (isNarrowed) return { sessions: [] };
  const found = await context.sessions.listOf(_id);
  return {
    sessions: found.map((session) => ({
      id: session._id,
      createdAt: timestampFromDate(session.created_at),
      lastUsedAt: timestampFromDate(session.seen_at),
      expiresAt: timestampFromDate(session.expires_at),
      address: session.address,
      userAgent: session.user_agent,
    })),
  };
}
