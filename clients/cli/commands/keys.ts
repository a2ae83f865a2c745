import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type ApiKey, ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { SERVERS, scopesOfServer } from "../../../services/shared/platforms.js";
import { clientOf } from "../client.js";
import type { Argument, Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { pages } from "../pages.js";
import { spanOf } from "../span.js";

const EXAMPLE_SCOPE = scopesOfServer(SERVERS[0] as string)[0];
const ID: Argument = {
  name: "ID",
  doc: "The key's id: the part of the key between its prefix and the next underscore.",
};

/** Makes, shows, rotates and ends API keys. */
export const keys: readonly Verb[] = [
  {
    verb: "create",
    doc: "Create an API key. It is shown only once.",
    flags: {
      user: { doc: "The e-mail address or id of the key's user.", required: true },
      name: { doc: "A name for the key, such as the client's name.", required: true },
      expires: { doc: "The key's lifetime, such as 90d, 12h or 30m; it does not expire if omitted." },
      scopes: { doc: `Scopes separated by commas, such as ${EXAMPLE_SCOPE}; all of the user's scopes if omitted.` },
    },
    async run(session, { flags }) {
      const { key, token } = await clientOf(session, ApiKeyService).createApiKey({
        ...ownerOf(flags.user),
        name: flags.name as string,
        scopes: flags.scopes?.split(",").map((scope) => scope.trim()) ?? [],
        ...(flags.expires !== undefined && { expiresAt: afterSpan(flags.expires, "--expires") }),
      });
      return { id: key?.id, api_key: token };
    },
  },
  {
    verb: "list",
    doc: "List the API keys of a user, newest first.",
    flags: {
      user: { doc: "The user's e-mail address or id; your own keys if omitted." },
      revoked: { doc: "Include revoked keys.", isSwitch: true },
    },
    columns: ["id", "name", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at", "uses"],
    async run(session, { flags }) {
      const client = clientOf(session, ApiKeyService);
      const asked = {
        ...ownerOf(flags.user),
        includeRevoked: flags.revoked !== undefined,
        pageSize: 100,
      };
      const found: object[] = [];
      for await (const page of pages((pageToken) => client.listApiKeys({ ...asked, pageToken }))) {
        found.push(...page.keys.map(toJson));
      }
      return { keys: found };
    },
  },
  {
    verb: "rotate",
    doc: "Replace a key by a new one with the same user, name, scopes and lifetime. The new key is shown only once.",
    args: [ID],
    flags: {
      overlap: { doc: "How long the old key stays valid, such as 1h, at most 30d; it ends immediately if omitted." },
    },
    async run(session, { args, flags }) {
      const overlapMs = flags.overlap === undefined ? 0 : spanOf(flags.overlap, "--overlap");
      const { key, token, oldKeyEndsAt } = await clientOf(session, ApiKeyService).rotateApiKey({
        id: args.ID as string,
        overlapSeconds: Math.floor(overlapMs / 1_000),
      });
      return { id: key?.id, api_key: token, old_id: args.ID, old_key_ends_at: timeOf(oldKeyEndsAt) };
    },
  },
  {
    verb: "expire",
    doc: "Change when an API key expires. Every process applies it before this returns.",
    args: [ID],
    flags: {
      in: { doc: "Time from now until the key expires, such as 90d, 12h or 30m." },
      never: { doc: "The key stays valid until it is revoked.", isSwitch: true },
    },
    async run(session, { args, flags }) {
      if ((flags.in === undefined) === (flags.never === undefined)) throw new UsageError("give --in or --never");
      const { key } = await clientOf(session, ApiKeyService).updateApiKey({
        id: args.ID as string,
        ...(flags.in !== undefined && { expiresAt: afterSpan(flags.in, "--in") }),
      });
      return toJson(key as ApiKey);
    },
  },
  {
    verb: "revoke",
    doc: "Revoke an API key. When this returns, no process accepts it, and its schedules no longer run.",
    args: [ID],
    async run(session, { args }) {
      const { schedules, moreSchedules } = await clientOf(session, ApiKeyService).revokeApiKey({
        id: args.ID as string,
      });
      const ended = schedules.map(({ id, name }) => ({ id, ...(name !== "" && { name }) }));
      return {
        ...{ id: args.ID, revoked: true },
        ...(ended.length > 0 && { ended_schedules: ended }),
        ...(moreSchedules && { more_ended_schedules: true }),
      };
    },
  },
];

function ownerOf(user: string | undefined): { userEmail?: string; userId?: string } {
  if (user === undefined) return {};
  return user.includes("@") ? { userEmail: user } : { userId: user };
}

function afterSpan(span: string, flag: string): Timestamp {
  return timestampFromDate(new Date(Date.now() + spanOf(span, flag)));
}

function toJson({ id, name, userEmail, scopes, uses, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey): object {
  return {
    id,
    name,
    user: userEmail,
    scopes,
    uses: Number(uses),
    created_at: timeOf(createdAt),
    expires_at: timeOf(expiresAt),
    revoked_at: timeOf(revokedAt),
    last_used_at: timeOf(lastUsedAt),
  };
}

function timeOf(at: Timestamp | undefined): string | undefined {
  return at && timestampDate(at).toISOString();
}
