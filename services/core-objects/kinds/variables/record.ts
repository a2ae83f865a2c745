import type { ObjectRecord } from "../../record.js";

/** A variable as it is stored: its value, or what is sealed of it. */
export interface VariableRecord extends ObjectRecord {
  readonly secret: boolean;
  /** "" where it is secret. */
  readonly value: string;
  /** "" where it is not secret, or was handed over without its value. */
  readonly sealed: string;
  /** How a secret value ends; "" where it is too short to say, or not secret. */
  readonly ends_with: string;
}

/** Whether it was handed over without its secret value, and got none since. */
export function lacksValue({ secret, sealed }: VariableRecord): boolean {
  return secret && sealed === "";
}
