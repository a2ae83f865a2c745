import type { Amount } from "./counters.js";

/** What users and the deployment may spend on a day; absent for any amount. */
export interface DayLimits {
  readonly user: Partial<Amount>;
  /** Through integrations that the company manages: what others bring, others pay. */
  readonly deployment: Partial<Amount>;
}

/** Where nothing is limited. */
export const NO_LIMITS: DayLimits = { user: {}, deployment: {} };
