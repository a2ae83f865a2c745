/** A user as the platform's administrator sets one up. */
export interface SandboxUser {
  readonly email: string;
  readonly name: string;
  /** As the platform names them; one implies those it begins with (KNOWLEDGE_KNUPDATE implies KNOWLEDGE). */
  readonly capabilities: readonly string[];
  /** The highest marking of each kind that the user is cleared for, such as TLP:AMBER. */
  readonly clearance: readonly string[];
  /** The most confidence the user may give or change, 0 to 100. */
  readonly maxConfidence: number;
  readonly status?: "Active" | "Inactive";
}

/** An account in use: with its id, and the markings its clearance allows. */
export interface Account extends SandboxUser {
  readonly id: string;
  readonly allowed: ReadonlySet<string>;
  /** The draft last opened in the interface; live where undefined. */
  draft: string | undefined;
}
