import { createHash, randomBytes } from "node:crypto";
import type { AuthStore, SessionRecord, UserRecord } from "../store.js";

/** The sign-ins of people at browsers. */
export interface Sessions {
  /** Begins one; the value is what the browser keeps, and is nowhere else. */
  begin(
    user: UserRecord,
    how: { readonly address: string; readonly userAgent: string; readonly amr: string },
  ): Promise<string>;
  /** Whose a value is; undefined where it is nobody's any more. */
  of(value: string): Promise<{ readonly user: UserRecord; readonly session: SessionRecord } | undefined>;
  end(value: string): Promise<void>;
  endAllOf(userId: string): Promise<number>;
}

const HOUR = 3_600_000;
const MAX_MS = 12 * HOUR;
const IDLE_MS = HOUR;
const TOUCH_MS = 60_000;
const MAX_USER_AGENT = 200;

/** Keeps sessions by the SHA-256 of what the browser has: 12 hours at most, one without use. */
export function createSessions({ sessions, users }: Pick<AuthStore, "sessions" | "users">): Sessions {
  return {
    async begin(user, { address, userAgent, amr }) {
      const value = randomBytes(32).toString("base64url");
      const now = new Date();
      await sessions.insertOne({
        _id: idOf(value),
        user_id: user._id,
        created_at: now,
        seen_at: now,
        expires_at: new Date(now.getTime() + MAX_MS),
        address,
        user_agent: userAgent.slice(0, MAX_USER_AGENT),
        amr,
      });
      return value;
    },
    async of(value) {
      const session = await sessions.findOne({ _id: idOf(value) });
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
    async end(value) {
      await sessions.deleteOne({ _id: idOf(value) });
    },
    async endAllOf(userId) {
      return (await sessions.deleteMany({ user_id: userId })).deletedCount;
    },
  };
}

function idOf(value: string): string {
  return createHash("sha256").update(value).digest("base64url");
}
