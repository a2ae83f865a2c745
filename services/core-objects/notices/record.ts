import type { Base, CollectionSpec } from "../../shared/store/store.js";

/** A notice as it is stored until it is forgotten; its id is that of what happened, so that it is told once. */
export interface NoticeRecord extends Base {
  /** The run that it is about; "" for none. */
  readonly run: string;
  /** JSON, without anything secret. */
  readonly body: string;
  readonly attempts: number;
  /** When it is sent, or may be sent by another process; null once that has ended. */
  readonly due_at: Date | null;
  readonly expires_at: Date;
}

/** Where notices are kept. */
export const NOTICES: CollectionSpec = {
  name: "notices",
  indexes: [
    { name: "due", key: { due_at: 1 } },
    { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 },
  ],
};
