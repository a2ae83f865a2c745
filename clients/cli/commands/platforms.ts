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
    doc: "List platforms and whether they answer. If several have one type, the first one serves.",
    columns: ["id", "server", "state", "serves", "url", "title", "version", "configured", "last_seen_at"],
    async run(session) {
      const { platforms: found } = await clientOf(session, SettingService).listPlatforms({});
      return { platforms: found.map(shown) };
    },
  },
  {
    verb: "add",
    doc: "Register a platform that does not register itself. A registered platform keeps its address: use move to change it.",
    flags: {
      server: { doc: "The server that the platform answers.", required: true, choices: PLATFORM_SERVERS },
      address: { doc: "The platform's address.", required: true },
      "public-address": { doc: "The platform's public address; the same address if omitted." },
      title: { doc: "The title shown to people." },
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
    doc: "Select a registered platform to serve instead of the others of its type.",
    args: [ID],
    async run(session, { args }) {
      const { platform } = await clientOf(session, SettingService).selectPlatform({ id: args.ID as string });
      return shown(platform as Platform);
    },
  },
  {
    verb: "move",
    doc: "Change the address of a registered platform. Every process applies it before this returns.",
    args: [ID],
    flags: {
      from: { doc: "The present address, as list shows it.", required: true },
      to: { doc: "The new address.", required: true },
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
    doc: "Forget a registered platform and free its tokens for another one. Until those are used elsewhere or revoked, no other token can register its id or address.",
    args: [ID],
    async run(session, { args }) {
      const { freedTokens } = await clientOf(session, SettingService).forgetPlatform({ id: args.ID as string });
      return { id: args.ID, forgotten: true, freed_tokens: freedTokens };
    },
  },
  {
    verb: "create-token",
    doc: "Create a token that one platform registers itself with. The token is shown only once and expires if it is not used.",
    flags: {
      name: { doc: "A name for the token, such as the platform's name.", required: true },
      server: { doc: "The server whose platform may use it.", required: true, choices: PLATFORM_SERVERS },
      platform: { doc: "The id of a registered platform that will use it instead of its present token." },
      expires: { doc: "Time until an unused token expires, in days, such as 7d; 30d if omitted." },
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
    doc: "List registration tokens, newest first, and the platform that each one registered.",
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
    doc: "Revoke a registration token.",
    args: [{ name: "ID", doc: "The token's id, as list-tokens shows it." }],
    async run(session, { args }) {
      await clientOf(session, SettingService).revokeRegistrationToken({ id: args.ID as string });
      return { id: args.ID, revoked: true };
    },
  },
];
