import { randomBytes } from "node:crypto";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import { sessionIdOf } from "../../shared/credentials/session.js";
import type { AuthStore, SessionRecord, UserRecord } from "../store.js";
import type { WatchHub } from "../watch-hub.js";

/** The sign-ins of people at browsers. */
export interface Sessions {
  /** Begins one; the value is what the browser keeps, and is nowhere else. */
  begin(
    user: UserRecord,
    how: Pick<SessionRecord, "address" | "amr" | "page"> & { readonly userAgent: string },
  ): Promise<string>;
  /** Whose a value is; undefined where it is nobody's any more. */
  of(value: string): Promise<{ readonly user: UserRecord; readonly session: SessionRecord } | undefined>;
  /** The newest first. */
  listOf(userId: string): Promise<SessionRecord[]>;
  /** Ends one; when it has returned, no process serves it. */
  end(value: string): Promise<void>;
  /** The same by its id. @param userId whose it must be; undefined for anybody's. @returns whether there was one. */
  endById(id: string, userId: string | undefined): Promise<boolean>;
  /** @param keep the id of one that goes on. @returns how many ended. */
  endAllOf(userId: string, keep?: string): Promise<number>;
}

/** RFC 8176 has `pwd` for a password, and no value for another provider. */
export const BY_PASSWORD = "pwd";
/** How somebody signed in whom another provider vouched for. */
export const BY_PROVIDER = "fed";

/** Whether somebody who signed in must choose a new password before anything else. */
export function mustChangePassword({ user, session }: { user: UserRecord; session: SessionRecord }): boolean {
  return user.must_change_password === true && session.amr === BY_PASSWORD;
}

const HOUR = 3_600_000;
const MAX_MS = 12 * HOUR;
const IDLE_MS = HOUR;
const TOUCH_MS = 60_000;
const MAX_USER_AGENT = 200;
/** Of one person; the oldest gives way. */
const MAX_SESSIONS = 50;

/** Keeps sessions by the SHA-256 of what the browser has: 12 hours at most, one without use. */
export function createSessions(
  { sessions, users }: Pick<AuthStore, "sessions" | "users">,
  hub: Pick<WatchHub, "publish">,
): Sessions {
  /** Processes keep who a session is, as they keep keys. */
  async function tell(ended: readonly string[]): Promise<void> {
    if (ended.length > 0) await hub.publish(ended.map((id) => ({ kind: EventKind.KEY, id })));
  }

  async function endOldest(userId: string): Promise<void> {
    const all = await sessions.find({ user_id: userId }).sort({ created_at: -1 }).toArray();
    const over = all.slice(MAX_SESSIONS).map(({ _id }) => _id);
    if (over.length > 0) await sessions.deleteMany({ _id: { $in: over } });
    await tell(over);
  }

  return {
    async begin(user, { userAgent, ...how }) {
      const value = randomBytes(32).toString("base64url");
      const now = new Date();
      await sessions.insertOne({
        _id: sessionIdOf(value),
        user_id: user._id,
        created_at: now,
        seen_at: now,
        expires_at: new Date(now.getTime() + MAX_MS),
        user_agent: userAgent.slice(0, MAX_USER_AGENT),
        ...how,
      });
      await endOldest(user._id);
      return value;
    },
    async of(value) {
      const session = await sessions.findOne({ _id: sessionIdOf(value) });
      const now = Date.now();
      if (session === null || session.expires_at.getTime() <= now || now - session.seen_at.getTime() > IDLE_MS) {
        return undefined;
      }
      const user = await users.findOne({ _id: session.user_id });
      if (user === null || user.disabled) return undefined;
      if (now - session.seen_at.getTime() > TOUCH_MS) {
        await sessions.updateOne({ _id: session._id }, { $set: { seen_at: new Date(now) } });
      }
      return { user, session };
    },
    async listOf(userId) {
      const now = Date.now();
      const all = await sessions.find({ user_id: userId }).sort({ created_at: -1 }).toArray();
      return all.filter(({ expires_at, seen_at }) => expires_at.getTime() > now && now - seen_at.getTime() <= IDLE_MS);
    },
    async end(value) {
      await this.endById(sessionIdOf(value), undefined);
    },
    async endById(id, userId) {
      const { deletedCount } = await sessions.deleteOne({ _id: id, ...(userId !== undefined && { user_id: userId }) });
      if (deletedCount > 0) await tell([id]);
      return deletedCount > 0;
    },
    async endAllOf(userId, keep) {
      const others = keep === undefined ? { user_id: userId } : { user_id: userId, _id: { $ne: keep } };
      const ids = (await sessions.find(others).toArray()).map(({ _id }) => _id);
      const { deletedCount } = await sessions.deleteMany(others);
      await tell(ids);
      return deletedCount;
    },
  };
}
