import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ConnectionState, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Command } from "../command.js";

/** Lists platforms and makes the tokens by which they register. */
export const platforms: readonly Command[] = [
  {
    noun: "platforms",
    verb: "list",
    doc: "List the platforms and whether they answer.",
    positionals: [],
    flags: {},
    async run(session) {
      const { platforms: found } = await session.client(SettingService).listPlatforms({});
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
    noun: "platforms",
    verb: "create-token",
    doc: "Make a token by which one platform registers itself; it is shown this once.",
    positionals: [],
    flags: {
      name: { doc: "What the token is for, such as the platform's name.", required: true },
      server: { doc: "The server whose platform may use it, such as cti.", required: true },
    },
    async run(session, { flags }) {
      const { id, token } = await session
        .client(SettingService)
        .createRegistrationToken({ name: flags.name as string, server: flags.server as string });
      return { id, token };
    },
  },
  {
    noun: "platforms",
    verb: "revoke-token",
    doc: "Take a registration token back.",
    positionals: ["ID"],
    flags: {},
    async run(session, { args }) {
      await session.client(SettingService).revokeRegistrationToken({ id: args.ID as string });
      return { id: args.ID, revoked: true };
    },
  },
];
