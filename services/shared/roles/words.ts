/** A right, as the administrator of a platform sees it. */
export interface RightWords {
  /** The text beside its box in the English interface of the platform; if the interface has no box, absent. */
  readonly label?: string;
  /** The headings above the box, the outermost first. */
  readonly under: readonly string[];
  /** Rights that the platform adds by itself to a role with this one, the nearest first. */
  readonly implies?: readonly string[];
}

/** A role that ships with a platform. */
export interface BuiltInRole {
  readonly name: string;
  /** The rights among those that tools need. */
  has(right: string): boolean;
}

/** What an administrator needs to create a role on a platform. */
export interface RoleWords {
  /** The release whose sources the labels were taken from. */
  readonly release: string;
  /** Every right that tools need, by its id in the API of the platform, in the order of its interface. */
  readonly rights: Readonly<Record<string, RightWords>>;
  /**
   * For what `(platform.v1.needs)` names, the rights without which a tool that needs it cannot do all that it offers.
   * A name that is missing here stands for the right of that id.
   */
  readonly meets: Readonly<Record<string, readonly string[]>>;
  /** Rights that every role needs, whatever tools it is for. */
  readonly always: readonly string[];
  /** Roles that ship with the platform, the weakest first. */
  readonly builtIn: readonly BuiltInRole[];
  /** How to create the role and give it to people, one step each. */
  readonly steps: readonly string[];
  /** What else decides what the role can do. */
  readonly notes: readonly string[];
}
