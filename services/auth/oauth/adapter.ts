import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";
import { type Seal, SealError } from "../../shared/secrets/seal.js";
import type { AuthStore, OauthRecord } from "../store.js";
import { errors } from "./library.js";
import { recordIdOf } from "./records.js";

/** What the authorization server's records need. */
export interface AdapterOptions {
  readonly store: Pick<AuthStore, "oauth">;
  readonly seal: Seal;
  /** Awaited when every token of a grant is taken back: the client presented something that it had used up. */
  readonly endGrant: (grantId: string) => Promise<unknown>;
}

/**
 * How long a refresh token that was exchanged still gives another: a client
 * whose two requests refresh at the same moment, or that lost the answer, is
 * not signed out. Afterwards using it ends the grant (RFC 9700 section 4.14.2).
 */
export const REUSE_LEEWAY_MS = 10_000;
/** A client that registered itself and was never allowed anything is forgotten. */
const UNUSED_CLIENT_MS = 24 * 3_600_000;

/**
 * The storage of oidc-provider in our store. It does three things that the
 * library leaves to its storage: ids are hashed, because they are what a bearer
 * sends; a code is consumed by one atomic step, so that of many who redeem it at
 * once one succeeds; a rotated refresh token works for a moment longer.
 */
export function createAdapter({ store: { oauth }, seal, endGrant }: AdapterOptions): AdapterFactory {
  return (model) => new ModelAdapter(model, oauth, seal, endGrant);
}

class ModelAdapter implements Adapter {
  constructor(
    private readonly model: string,
    private readonly records: AuthStore["oauth"],
    private readonly seal: Seal,
    private readonly endGrant: (grantId: string) => Promise<unknown>,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const _id = recordIdOf(this.model, id);
    const text = JSON.stringify(PUBLIC_IDS.has(this.model) ? payload : { ...payload, jti: undefined });
    const lifeMs = this.model === "Client" ? UNUSED_CLIENT_MS : expiresIn && expiresIn * 1000;
    const record: Omit<OauthRecord, "_id" | "consumed_at"> = {
      model: this.model,
      payload: SEALED.has(this.model) ? this.seal.seal(text, placeOf(_id)) : text,
      grant_id: payload.grantId ?? null,
      uid: payload.uid ?? null,
      expires_at: lifeMs ? new Date(Date.now() + lifeMs) : null,
    };
    await this.records.updateOne({ _id }, { $set: record, $setOnInsert: { consumed_at: null } }, { upsert: true });
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.payloadOf(await this.records.findOne({ _id: recordIdOf(this.model, id) }), id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    // The id of what is found so, a browser's session, stays unknown; nobody needs it.
    return this.payloadOf(await this.records.findOne({ uid, model: this.model }), "-");
  }

  async findByUserCode(): Promise<undefined> {
    return undefined;
  }

  async consume(id: string): Promise<void> {
    const _id = recordIdOf(this.model, id);
    const { modifiedCount } = await this.records.updateOne(
      { _id, consumed_at: null },
      { $set: { consumed_at: new Date() } },
    );
    if (modifiedCount === 1) return;
    const found = await this.records.findOne({ _id });
    if (found !== null && this.isInLeeway(found)) return;
    throw new errors.InvalidGrant("it was used before");
  }

  async destroy(id: string): Promise<void> {
    await this.records.deleteOne({ _id: recordIdOf(this.model, id) });
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await this.records.deleteMany({ grant_id: grantId, model: this.model });
    // The library asks this of every model; of refresh tokens it always does.
    if (this.model === "RefreshToken") await this.endGrant(grantId);
  }

  private payloadOf(record: OauthRecord | null, id: string): AdapterPayload | undefined {
    if (record === null || (record.expires_at !== null && record.expires_at.getTime() <= Date.now())) return undefined;
    const text = this.textOf(record);
    if (text === undefined) return undefined;
    const payload: AdapterPayload = JSON.parse(text);
    if (!PUBLIC_IDS.has(this.model)) payload.jti = id;
    if (record.consumed_at === null || this.isInLeeway(record)) return payload;
    return { ...payload, consumed: Math.floor(record.consumed_at.getTime() / 1000) };
  }

  /** What was sealed with a key that is gone is gone: the person starts again. */
  private textOf({ _id, payload }: OauthRecord): string | undefined {
    if (!SEALED.has(this.model)) return payload;
    try {
      return this.seal.open(payload, placeOf(_id));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  private isInLeeway({ consumed_at: at }: OauthRecord): boolean {
    return this.model === "RefreshToken" && at !== null && Date.now() - at.getTime() < REUSE_LEEWAY_MS;
  }
}

/** Models whose id is not a secret. */
const PUBLIC_IDS: ReadonlySet<string> = new Set(["Client", "Grant"]);
/** An interaction names the session of its browser. */
const SEALED: ReadonlySet<string> = new Set(["Interaction"]);

const placeOf = (id: string): string => `oauth/${id}`;
