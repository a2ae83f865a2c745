import type { Connecting } from "../../objects/connection.js";

/** An integration as it is stored. */
export interface IntegrationRecord extends Connecting, CredentialRecord {
  readonly type: "openai";
  /** The URL that its requests begin with, without a slash at its end. */
  readonly endpoint: string;
  /** As the service names them; the first is the default one. */
  readonly models: readonly string[];
}

/** What is kept of a credential. */
export interface CredentialRecord {
  /** "" where there is none. */
  readonly sealed: string;
  /** How it ends; "" where it is too short to say. */
  readonly ends_with: string;
}
