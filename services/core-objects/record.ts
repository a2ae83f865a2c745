import type { Base } from "../shared/store/store.js";
import type { Governed } from "./policy.js";

/** What every object of ours has, whatever its kind. */
export interface ObjectRecord extends Base, Governed {
  readonly name: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly enabled: boolean;
  /** Changes with every write. */
  readonly etag: string;
  /** The creator and their request_id, else the object's own id: makes creation idempotent. */
  readonly request: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** While somebody deletes it: nothing new may refer to it. What a process that died leaves ends with the next write. */
  readonly deleting?: string;
  /** Of a kind with secrets: the key that all of them are sealed with; "" where it has none. */
  readonly sealed_with?: string;
  /** The bytes that are counted for it; absent in old records. */
  readonly taken?: number;
  /** Of what ships with the product: the digest of its file. */
  readonly content_hash?: string;
}

/** The fields that a kind adds. */
export type Own<R extends ObjectRecord> = Omit<R, keyof ObjectRecord>;

/** What a file that ships with the product says of an object. */
export type Shipped<R extends ObjectRecord> = Own<R> & Pick<R, "name" | "description" | "labels">;
