import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { SessionService } from "#proto/auth/v1/session_service_pb.js";
import { clientOf } from "../client.js";
import type { Flag, Verb } from "../command.js";

const USER: Flag = { doc: "The user's e-mail address or id; yourself if omitted." };

/** Shows and ends sign-ins at browsers. */
export const sessions: readonly Verb[] = [
  {
    verb: "list",
    doc: "List the browsers that a user is signed in at, newest first.",
    flags: { user: USER },
    async run(session, { flags }) {
      const { sessions: found } = await clientOf(session, SessionService).listSessions(ownerOf(flags.user));
      return {
        sessions: found.map(({ id, address, userAgent, createdAt, lastUsedAt, expiresAt }) => ({
          id,
          address,
          browser: userAgent,
          created_at: timeOf(createdAt),
          last_used_at: timeOf(lastUsedAt),
          expires_at: timeOf(expiresAt),
        })),
      };
    },
  },
  {
    verb: "end",
    doc: "Sign a user out at one browser.",
    args: [{ name: "ID", doc: "The session's id." }],
    async run(session, { args }) {
      await clientOf(session, SessionService).endSession({ id: args.ID as string });
      return { id: args.ID, ended: true };
    },
  },
  {
    verb: "end-all",
    doc: "Sign a user out everywhere. When this returns, no process accepts what has ended.",
    flags: {
      user: USER,
      connections: { doc: "Also end the connections of clients.", isSwitch: true },
      keys: {
        doc: "Also revoke all API keys, also the one that this command uses if it is the user's.",
        isSwitch: true,
      },
    },
    async run(session, { flags }) {
      const ended = await clientOf(session, SessionService).signOutEverywhere({
        ...ownerOf(flags.user),
        connections: flags.connections !== undefined,
        apiKeys: flags.keys !== undefined,
      });
      return {
        ended_sessions: ended.sessions,
        ended_connections: ended.connections,
        revoked_api_keys: ended.apiKeys,
      };
    },
  },
];

function ownerOf(user: string | undefined): { userEmail?: string; userId?: string } {
  if (user === undefined) return {};
  return user.includes("@") ? { userEmail: user } : { userId: user };
}

function timeOf(at: Timestamp | undefined): string | undefined {
  return at && timestampDate(at).toISOString();
}
