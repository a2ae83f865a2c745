import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { SERVERS, scopesOfServer } from "../../../services/shared/platforms.js";
import type { Command } from "../command.js";
import { UsageError } from "../usage-error.js";

const EXAMPLE_SCOPE = scopesOfServer(SERVERS[0] as string)[0];
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Makes and revokes API keys. */
export const keys: readonly Command[] = [
  {
    noun: "keys",
    verb: "create",
    doc: "Create an API key; it is shown this once.",
    positionals: [],
    flags: {
      user: { doc: "The e-mail address of the key's user.", required: true },
      name: { doc: "What the key is for, such as the client's name.", required: true },
      expires: { doc: "How long it lasts, such as 90d, 12h or 30m; for ever where left out." },
      scopes: { doc: `Scopes separated by commas, such as ${EXAMPLE_SCOPE}; all the user's where left out.` },
    },
    async run(session, { flags }) {
      const { key, token } = await session.client(ApiKeyService).createApiKey({
        userEmail: flags.user as string,
        name: flags.name as string,
        scopes: flags.scopes?.split(",").map((scope) => scope.trim()) ?? [],
        ...(flags.expires !== undefined && { expiresAt: timestampFromDate(afterSpan(flags.expires)) }),
      });
      return { id: key?.id, api_key: token };
    },
  },
  {
    noun: "keys",
    verb: "list",
    doc: "List the API keys of a user.",
    positionals: [],
    flags: { user: { doc: "The e-mail address of the user.", required: true } },
    async run(session, { flags }) {
      const { keys: found } = await session.client(ApiKeyService).listApiKeys({
        userEmail: flags.user as string,
        pageSize: 100,
      });
      return {
        keys: found.map(({ id, name, scopes, expiresAt, lastUsedAt, uses }) => ({
          id,
          name,
          scopes,
          uses: Number(uses),
          expires_at: expiresAt && timestampDate(expiresAt).toISOString(),
          last_used_at: lastUsedAt && timestampDate(lastUsedAt).toISOString(),
        })),
      };
    },
  },
  {
    noun: "keys",
    verb: "revoke",
    doc: "Revoke an API key; when this returns, no process serves it.",
    positionals: ["ID"],
    flags: {},
    async run(session, { args }) {
      await session.client(ApiKeyService).revokeApiKey({ id: args.ID as string });
      return { id: args.ID, revoked: true };
    },
  },
];

function afterSpan(span: string): Date {
  const [, number, unit] = /^([1-9][0-9]{0,5})([mhd])$/.exec(span) ?? [];
  if (number === undefined || unit === undefined)
    throw new UsageError("--expires must be a span such as 90d, 12h or 30m");
  return new Date(Date.now() + Number(number) * (UNIT_MS[unit] as number));
}
