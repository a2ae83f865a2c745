/** An account of the platform. */
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

/** The accounts that the sandbox has where none are given. */
export const SANDBOX_USERS: readonly SandboxUser[] = [
  {
    email: "admin@sallyport.example",
    name: "Administrator",
    capabilities: ["BYPASS"],
    clearance: ["TLP:RED", "PAP:RED"],
    maxConfidence: 100,
  },
  {
    email: "analyst@sallyport.example",
    name: "Analyst",
    capabilities: ["KNOWLEDGE", "KNOWLEDGE_KNPARTICIPATE", "KNOWLEDGE_KNUPDATE"],
    clearance: ["TLP:AMBER", "PAP:AMBER"],
    maxConfidence: 80,
  },
  {
    email: "reader@sallyport.example",
    name: "Reader",
    capabilities: ["KNOWLEDGE"],
    clearance: ["TLP:GREEN"],
    maxConfidence: 50,
  },
  { email: "nobody@sallyport.example", name: "Nobody", capabilities: [], clearance: [], maxConfidence: 50 },
];

/** An account in use: with its id, and the markings its clearance allows. */
export interface Account extends SandboxUser {
  readonly id: string;
  readonly allowed: ReadonlySet<string>;
  /** The draft last opened in the interface; live where undefined. */
  draft: string | undefined;
}

export function can(account: Account, capability: string): boolean {
  return account.capabilities.some((held) => held === "BYPASS" || held.startsWith(capability));
}

/** How the platform compares e-mail addresses: ignoring case and accents. */
export function foldEmail(email: string): string {
  return email
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();
}
