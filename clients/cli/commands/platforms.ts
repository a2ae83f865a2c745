import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ConnectionState, type Platform, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { PLATFORM_SERVERS } from "../../../services/shared/platforms.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";

function shown(p: Platform) {
  return {
    id: p.id,
    server: p.server,
    state: ConnectionState[p.state]?.toLowerCase(),
    serves: p.serves,
    url: p.url,
    public_url: p.publicUrl,
    title: p.title,
    version: p.version,
    configured: p.configured,
    last_seen_at: p.lastSeenAt && timestampDate(p.lastSeenAt).toISOString(),
  };
}

const ID = { name: "ID", doc: "The platform's id, as list shows it." };

/** Lists, adds, selects and forgets platforms, and makes the tokens by which they register. */
export const platforms: readonly Verb[] = [
  {
    verb: "list",
    doc: "List the platforms and whether they answer; of several of one type the first serves.",
    columns: ["id", "server", "state", "serves", "url", "title", "version", "configured", "last_seen_at"],
    async run(session) {
      const { platforms: found } = await clientOf(session, SettingService).listPlatforms({});
      return { platforms: found.map(shown) };
    },
  },
  {
    verb: "add",
    doc: "Register a platform that does not register itself.",
    flags: {
      server: { doc: "The server that it is to answer.", required: true, choices: PLATFORM_SERVERS },
      address: { doc: "Where to call it.", required: true },
      "public-address": { doc: "What it calls itself; that address unless given." },
      title: { doc: "A title for people." },
    },
    async run(session, { flags }) {
      const { platform } = await clientOf(session, SettingService).addPlatform({
        server: flags.server as string,
        url: flags.address as string,
        ...(flags["public-address"] !== undefined && { publicUrl: flags["public-address"] }),
        title: flags.title ?? "",
      });
      return shown(platform as Platform);
    },
  },
  {
    verb: "select",
    doc: "Let a registered platform serve, in place of the others of its type.",
    args: [ID],
    async run(session, { args }) {
      const { platform } = await clientOf(session, SettingService).selectPlatform({ id: args.ID as string });
      return shown(platform as Platform);
    },
  },
  {
    verb: "forget",
    doc: "Forget a registered platform, and free the tokens that are bound to it for another one.",
    args: [ID],
    async run(session, { args }) {
      const { freedTokens } = await clientOf(session, SettingService).forgetPlatform({ id: args.ID as string });
      return { id: args.ID, forgotten: true, freed_tokens: freedTokens };
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
