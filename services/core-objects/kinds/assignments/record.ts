import type { SettingKey } from "../../delegations.js";
import type { ObjectRecord } from "../../record.js";

/** An assignment as it is stored: an agent's standing task. */
export interface AssignmentRecord extends ObjectRecord {
  /** An id. */
  readonly agent: string;
  readonly input: string;
  /** Cron of five fields; "" where it runs when triggered alone. */
  readonly schedule: string;
  /** Of the IANA database. */
  readonly time_zone: string;
  /** When the schedule runs it next; null while it does not. */
  readonly next_at: Date | null;
  /** What stands for its owner at auth, sealed; "" without a schedule. */
  readonly delegation: string;
  /** The API key that set the schedule; null, or absent of an older one, if it is not known. */
  readonly schedule_key?: SettingKey | null;
  /** How long each of its runs may be; absent for as long as any. */
  readonly max_steps?: number;
  readonly timeout_seconds?: number;
  /** What each of its runs may take, and all of them on a day; absent, or 0, for any amount. */
  readonly max_tokens?: number;
  readonly max_cost?: number;
  readonly max_tokens_per_day?: number;
  readonly max_cost_per_day?: number;
  /** The run that asked its user last and waits; absent for none. */
  readonly asking?: string;
  /** Why the schedule does not go on, of one that we disabled; "" or absent otherwise. */
  readonly paused?: string;
  /** When we disabled it; null or absent where we did not. */
  readonly paused_at?: Date | null;
}

/** How much each of its runs may take. */
export function limitsOf({ max_steps, timeout_seconds, max_tokens, max_cost }: AssignmentRecord) {
  return { maxSteps: max_steps, timeoutSeconds: timeout_seconds, maxTokens: max_tokens, maxCost: max_cost };
}
