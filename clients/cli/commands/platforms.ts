import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import {
  ConnectionState,
  type Platform,
  type RegistrationToken,
  SettingService,
} from "#proto/catalogue/v1/setting_service_pb.js";
import { PLATFORM_SERVERS } from "../../../services/shared/platforms.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { pages } from "../pages.js";
import { spanOf } from "../span.js";

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
    last_seen_at: timeOf(p.lastSeenAt),
  };
}

function shownToken(t: RegistrationToken) {
  return {
    id: t.id,
    name: t.name,
    server: t.server,
    platform_id: t.platformId,
    platform_url: t.platformUrl,
    created_at: timeOf(t.createdAt),
    last_used_at: timeOf(t.lastUsedAt),
    expires_at: timeOf(t.expiresAt),
    configured: t.configured,
  };
}

function timeOf(at: Timestamp | undefined): string | undefined {
  return at && timestampDate(at).toISOString();
}

const DAY_MS = 86_400_000;

/** A span in whole days, as tokens expire. */
function daysOf(span: string): number {
  const days = spanOf(span, "--expires") / DAY_MS;
  if (!Number.isInteger(days)) throw new UsageError("--expires is a number of whole days, such as 30d");
  return days;
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
    doc: "Register a platform that does not register itself; one that is registered keeps its address, and move changes it.",
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
    verb: "move",
    doc: "Have a registered platform called at another address, in every process before this returns.",
    args: [ID],
    flags: {
      from: { doc: "Where it is called now, as list shows it.", required: true },
      to: { doc: "Where to call it from now on.", required: true },
    },
    async run(session, { args, flags }) {
      const { platform, previousUrl } = await clientOf(session, SettingService).movePlatform({
        id: args.ID as string,
        fromUrl: flags.from as string,
        toUrl: flags.to as string,
      });
      return { id: args.ID, server: platform?.server, serves: platform?.serves, from: previousUrl, to: platform?.url };
    },
  },
  {
    verb: "forget",
    doc: "Forget a registered platform, and free the tokens that are bound to it for another one; no other token registers its id or address before those are used elsewhere or revoked.",
    args: [ID],
    async run(session, { args }) {
      const { freedTokens } = await clientOf(session, SettingService).forgetPlatform({ id: args.ID as string });
      return { id: args.ID, forgotten: true, freed_tokens: freedTokens };
    },
  },
  {
    verb: "create-token",
    doc: "Make a token by which one platform registers itself; it is shown this once, and expires if it is not used.",
    flags: {
      name: { doc: "What the token is for, such as the platform's name.", required: true },
      server: { doc: "The server whose platform may use it.", required: true, choices: PLATFORM_SERVERS },
      platform: { doc: "The id of the registered platform that is to go on with it in place of its own token." },
      expires: { doc: "How long it lasts if it is not used, in days, such as 7d; 30d if left out." },
    },
    async run(session, { flags }) {
      const { id, token, expiresAt } = await clientOf(session, SettingService).createRegistrationToken({
        name: flags.name as string,
        server: flags.server as string,
        ...(flags.platform !== undefined && { platformId: flags.platform }),
        ...(flags.expires !== undefined && { expireDays: daysOf(flags.expires) }),
      });
      return { id, token, expires_at: timeOf(expiresAt) };
    },
  },
  {
    verb: "list-tokens",
    doc: "List the registration tokens, newest first, and the platform that each registered.",
    columns: ["id", "name", "server", "platform_id", "platform_url", "created_at", "last_used_at", "expires_at"],
    async run(session) {
      const client = clientOf(session, SettingService);
      const found: object[] = [];
      for await (const page of pages((pageToken) => client.listRegistrationTokens({ pageSize: 100, pageToken }))) {
        found.push(...page.tokens.map(shownToken));
      }
      return { tokens: found };
    },
  },
  {
    verb: "revoke-token",
    doc: "Take a registration token back.",
    args: [{ name: "ID", doc: "The token's id, as list-tokens shows it." }],
    async run(session, { args }) {
      await clientOf(session, SettingService).revokeRegistrationToken({ id: args.ID as string });
      return { id: args.ID, revoked: true };
    },
  },
];
