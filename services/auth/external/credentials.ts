import { createHash } from "node:crypto";
import type { ExternalSetting } from "../../shared/credentials/external-setting.js";
import { isOfIssuer } from "../../shared/credentials/external-token.js";
import type { Log } from "../../shared/process/log.js";
import { unavailable } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { knownUserOf } from "../federation/known-user.js";
import { noteRefusal } from "../federation/noted.js";
import { SignInRefusedError } from "../federation/refusal.js";
import { recordGrant } from "../oauth/grants.js";
import { noteConnection } from "../oauth/noted.js";
import type { Resources } from "../oauth/resources.js";
import type { GrantRecord, UserRecord } from "../store.js";
import type { RefusedKey, VerifiedUser } from "../verification.js";
import { type ExternalToken, ExternalTokenError, type ExternalTokens } from "./verify.js";

/** An access token of others that is good. */
export interface VerifiedExternal extends VerifiedUser {
  /** What an administrator or the person can end here, until the client has a newer token. */
  readonly grant: GrantRecord;
  /** Ours, of this token. */
  readonly scopes: string[];
  readonly endsAt: Date;
}

/** Takes access tokens of an authorization server of others for people here. */
export interface ExternalCredentials {
  /** Whether a bearer token says that it is one. */
  reads(token: string): boolean;
  /** @throws ConnectError unavailable if the keys of the authorization server cannot be read. */
  verify(token: string): Promise<VerifiedExternal | RefusedKey>;
}

/** What they are made with. */
export interface ExternalCredentialsOptions {
  readonly context: Pick<Context, "store" | "auditor" | "emailDomains" | "verification">;
  readonly setting: ExternalSetting;
  readonly tokens: ExternalTokens;
  readonly resources: Resources;
  readonly log: Log;
}

const REMEMBERED_MS = 5_000;
/** How audit records name the authorization server. */
const PROVIDER = "external";

/** Makes them. */
export function createExternalCredentials(options: ExternalCredentialsOptions): ExternalCredentials {
  return new Credentials(options);
}

class Credentials implements ExternalCredentials {
  constructor(private readonly options: ExternalCredentialsOptions) {}

  reads(token: string): boolean {
    return isOfIssuer(token, this.options.setting.issuer);
  }

  async verify(token: string): Promise<VerifiedExternal | RefusedKey> {
    const { context } = this.options;
    try {
      const said = await this.claimed(token);
      const user = await this.userOf(said);
      const grant = await this.grantOf(user, said);
      const found = await context.verification.currentGrant(grant._id, user._id);
      if ("refused" in found) return found;
      return { ...found, scopes: this.scopesOf(said), endsAt: said.expiresAt };
    } catch (error) {
      if (error instanceof ExternalTokenError) {
        this.options.log.info(
          { why: error.message },
          "an access token of the external authorization server is refused",
        );
        return refuse("unknown");
      }
      if (!(error instanceof SignInRefusedError)) throw error;
      noteRefusal(context, PROVIDER, error);
      this.options.log.info(
        { why: error.reason },
        "an access token of the external authorization server is for nobody",
      );
      return refuse(error.reason === "user_disabled" ? "disabled" : "unknown");
    }
  }

  private async claimed(token: string): Promise<ExternalToken> {
    try {
      return await this.options.tokens.verify(token);
    } catch (error) {
      if (error instanceof ExternalTokenError) throw error;
      this.options.log.warn({ err: error }, "the keys of the external authorization server cannot be read");
      throw unavailable("the keys of the external authorization server cannot be read: try again in a minute", error);
    }
  }

  private async userOf({ person }: ExternalToken): Promise<UserRecord> {
    const { context, setting } = this.options;
    const { emailDomains, createsUsers } = setting;
    const label = "The authorization server";
    return (await knownUserOf(context, person, { label, emailDomains, createsUsers })).user;
  }

  private scopesOf({ scopes, server }: ExternalToken): string[] {
    const { setting, resources } = this.options;
    const given = scopes.flatMap((scope) => [scope, ...(setting.scopes.get(scope) ?? [])]);
    const ours = resources.all.find((one) => one.server === server)?.scopes ?? [];
    return ours.filter((scope) => given.includes(scope));
  }

  /**
   * What stands for this person, client and server. One that was ended is not
   * taken up again: a token from before stays refused, and a later one begins another.
   */
  private async grantOf(user: UserRecord, said: ExternalToken): Promise<GrantRecord> {
    const { grants } = this.options.context.store;
    const resource = this.options.resources.all.find(({ server }) => server === said.server);
    if (resource === undefined) throw new Error(`there is no resource of ${said.server}`);
    const { issuer } = this.options.setting;
    const same = { user_id: user._id, client_id: said.clientId, resource: resource.url, redirect: issuer };
    const newest = await grants.find(same).sort({ serial: -1 }).limit(1).next();
    if (newest?.revoked_at && said.issuedAt.getTime() <= newest.revoked_at.getTime()) return newest;
    if (newest?.revoked_at === null) {
      if (newest.expires_at < said.expiresAt) {
        await grants.updateOne({ _id: newest._id }, { $max: { expires_at: said.expiresAt } });
      }
      return newest;
    }
    // The same id at all processes, so that there is one of them.
    const parts = [issuer, user._id, said.clientId, resource.url, newest?._id ?? ""];
    const _id = createHash("sha256").update(parts.join("\0")).digest("base64url");
    await this.record(user, { ...same, _id, said, server: resource.server });
    return (await grants.findOne({ _id })) as GrantRecord;
  }

  private async record(
    user: UserRecord,
    {
      said,
      ...given
    }: Pick<GrantRecord, "_id" | "user_id" | "client_id" | "resource" | "redirect" | "server"> & {
      readonly said: ExternalToken;
    },
  ): Promise<void> {
    const { context } = this.options;
    const { expiresAt: expires_at } = said;
    try {
      await recordGrant(context, {
        ...given,
        ...{ client_name: said.clientId, client_host: "", scopes: this.scopesOf(said), expires_at },
      });
    } catch (error) {
      // Another process made it.
      if (isDuplicateKey(error)) return;
      throw error;
    }
    noteConnection(context, user, { action: "connect", grantId: given._id, outcome: "ok" });
  }
}

function refuse(refused: RefusedKey["refused"]): RefusedKey {
  return { refused, rememberMs: REMEMBERED_MS };
}
