import type { Seal } from "../../shared/secrets/seal.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { Delegations } from "../delegations.js";
import type { ObjectRecord, Own } from "../record.js";
import type { RunRecord } from "../runs/record.js";

/** A hand-over: from whom to whom, by their ids. */
export interface Passing {
  readonly from: string;
  readonly to: string;
  /** Those of some objects of a kind that stay with the one who left and hold a secret. */
  staying(noun: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** An object as its new owner gets it. */
export interface Passed<R extends ObjectRecord> {
  /** What changes of it besides its owner. */
  readonly changes: Partial<R>;
  /** What it lost, and what the new owner does next. */
  readonly notes: readonly string[];
}

/** What an object may have begun outside its record. */
export interface Begun {
  readonly delegations: Delegations;
  readonly seal: Seal;
  readonly runs: DocCollection<RunRecord>;
}

/** What a kind says of objects whose owner leaves. */
export interface Leaving<R extends ObjectRecord> {
  /** The fields that the next two look at. */
  readonly reads?: readonly (keyof Own<R> & string)[];
  /** Whether one holds a secret. Not of any kind if left out. */
  readonly holdsSecret?: (record: R) => boolean;
  /** Whether one works without a call of its owner. Not of any kind if left out. */
  readonly isActive?: (record: R) => boolean;
  /**
   * How one arrives at its new owner: without what lets it act as the one who left. As it is if left out, or for
   * undefined.
   */
  readonly passed?: (record: R, passing: Passing) => Passed<R> | undefined | Promise<Passed<R> | undefined>;
  /** Ends what one began outside its record, before it is erased. */
  readonly erased?: (begun: Begun, record: R) => Promise<void>;
  /** One has documents, which are counted for its owner. */
  readonly hasDocuments?: true;
}
