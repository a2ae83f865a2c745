import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ConnectionState, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { PLATFORM_SERVERS } from "../../../services/shared/platforms.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";

/** Lists platforms and makes the tokens by which they register. */
export const platforms: readonly Verb[] = [
  {
    verb: "list",
    doc: "List the platforms and whether they answer.",
    columns: ["server", "state", "url", "title", "version", "configured", "last_seen_at"],
    async run(session) {
      const { platforms: found } = await clientOf(session, SettingService).listPlatforms({});
      return {
        platforms: found.map((p) => ({
          server: p.server,
          state: ConnectionState[p.state]?.toLowerCase(),
          url: p.url,
          public_url: p.publicUrl,
          title: p.title,
          version: p.version,
          configured: p.configured,
          last_seen_at: p.lastSeenAt && timestampDate(p.lastSeenAt).toISOString(),
        })),
      };
    },
  },
  {
    verb: "create-token",
    doc: "Make a token by which one platform registers itself; it is shown this once.",
    flags: {
      name: { doc: "What the token is for, such as the platform's name.", required: true },
      server: { doc: "The server whose platform may use it.", required: true, choices: PLATFORM_SERVERS },
    },
    async run(session, { flags }) {
      const { id, token } = await clientOf(session, SettingService).createRegistrationToken({
        name: flags.name as string,
        server: flags.server as string,
      });
      return { id, token };
    },
  },
  {
    verb: "revoke-token",
    doc: "Take a registration token back.",
    args: [{ name: "ID", doc: "The token's id, as create-token showed it." }],
    async run(session, { args }) {
      await clientOf(session, SettingService).revokeRegistrationToken({ id: args.ID as string });
      return { id: args.ID, revoked: true };
    },
  },
];
