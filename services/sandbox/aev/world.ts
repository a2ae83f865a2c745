import type { Entry } from "./kinds/kind.js";

// What the sandbox holds. Rows are plain data; views.ts gives them the
// platform's JSON, rights.ts says who may see them.

/** The tenant that every installation has. */
export const DEFAULT_TENANT = "2cffad3a-0001-4078-b0e2-ef74274022c3";
/** A second tenant, of a subsidiary. */
export const SECOND_TENANT = "2cffad3a-0002-4078-b0e2-ef74274022c3";

/** An isolation boundary. */
export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** What a grant on one scenario or simulation allows. */
export type GrantLevel = "OBSERVER" | "PLANNER" | "LAUNCHER";

/** An account. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly firstname: string;
  readonly lastname: string;
  readonly admin: boolean;
  readonly tenants: readonly string[];
  /** Capabilities by tenant. */
  readonly capabilities: ReadonlyMap<string, ReadonlySet<string>>;
  /** Grants by the id of a scenario or simulation. */
  readonly grants: Map<string, GrantLevel>;
  /** The id of the organization that a player belongs to. */
  readonly organization?: string;
  readonly createdAt: number;
}

/** A label of a tenant's objects. */
export interface Tag {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly color: string;
}

/** A kill-chain phase (MITRE ATT&CK tactic). */
export interface Phase {
  readonly id: string;
  readonly name: string;
  readonly shortname: string;
  readonly externalId: string;
  readonly order: number;
}

/** An attack pattern (MITRE ATT&CK technique). */
export interface Technique {
  readonly id: string;
  readonly externalId: string;
  readonly name: string;
  readonly description: string;
  readonly platforms: readonly string[];
  readonly phase: Phase;
  readonly parent: string | undefined;
  readonly createdAt: number;
}

/** An injector contract: what an inject does. */
export interface Contract {
  readonly id: string;
  readonly injector: string;
  readonly type: "openaev_implant" | "openaev_email" | "openaev_manual" | "openaev_channel";
  readonly label: string;
  readonly labelFr: string;
  readonly platforms: readonly string[];
  readonly technique: Technique | undefined;
  /** The payload that it was made of, and whose it is. */
  readonly payload?: { readonly id: string; readonly tenant: string } | undefined;
  readonly createdAt: number;
}

/** People who play in scenarios. */
export interface Team {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly description: string | null;
  readonly organization: string | null;
  /** Made for one scenario or simulation only. */
  readonly contextual: boolean;
  readonly tags: readonly string[];
  readonly users: readonly string[];
  readonly updatedAt: number;
}

/** A machine, with its agent or without. */
export interface Endpoint {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly description: string | null;
  readonly hostname: string;
  readonly platform: string;
  readonly arch: string;
  readonly ips: readonly string[];
  /** Without colons, in lower case. */
  readonly macs: readonly string[];
  readonly tags: readonly string[];
  readonly agent: { readonly id: string; readonly active: boolean; readonly lastSeen: number } | undefined;
  /** What its agent is known by elsewhere. */
  readonly reference?: string | null;
  readonly endOfLife?: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Endpoints under one name. */
export interface AssetGroup {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly description: string | null;
  /** A filter group over endpoints, as the platform's JSON has it. */
  readonly dynamicFilter: unknown;
  readonly assets: readonly string[];
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A plan of injects; times in milliseconds since the epoch. */
export interface Scenario {
  readonly id: string;
  readonly tenant: string;
  name: string;
  description: string | null;
  subtitle: string | null;
  category: string | null;
  mainFocus: string | null;
  severity: string | null;
  externalReference: string | null;
  externalUrl: string | null;
  recurrence: string | null;
  recurrenceStart?: number | null;
  recurrenceEnd?: number | null;
  header: string | null;
  footer: string | null;
  mailFromName: string;
  replyTo: string[];
  customDashboard: string | null;
  tags: string[];
  teams: string[];
  teamUsers: { readonly team: string; readonly user: string }[];
  injects: string[];
  simulations: string[];
  createdAt: number;
  updatedAt: number;
}

/** The states of a simulation. */
export type SimulationStatus = "SCHEDULED" | "RUNNING" | "PAUSED" | "CANCELED" | "FINISHED";

/** One run of a scenario; times in milliseconds since the epoch. */
export interface Simulation {
  readonly id: string;
  readonly tenant: string;
  readonly scenario: string | null;
  name: string;
  description: string | null;
  category: string | null;
  mainFocus: string | null;
  severity: string | null;
  status: SimulationStatus;
  start: number | null;
  end: number | null;
  pausedAt: number | null;
  /** Time spent paused, by which everything runs later. */
  pausedMs: number;
  replyTo: string[];
  tags: string[];
  teams: string[];
  teamUsers: { readonly team: string; readonly user: string }[];
  injects: string[];
  /** How often a deletion was asked for; see simulation-routes.ts. */
  deletions: number;
  createdAt: number;
  updatedAt: number;
}

/** What an inject is expected to show, and what it comes to. */
export interface Expectation {
  readonly id: string;
  readonly type: "PREVENTION" | "DETECTION" | "VULNERABILITY" | "HUMAN_RESPONSE";
  /** The endpoint, asset group or team that is to show it. */
  readonly target: string;
  /** Of the agent of an endpoint; the endpoint's follows from it. */
  readonly agent?: string | undefined;
  decidedAt: number;
  /** What it comes to once decided. */
  verdict: "SUCCESS" | "PARTIAL" | "FAILED";
  /** What was recorded, by source. */
  results: ExpectationRecord[];
}

/** What a source recorded of an expectation. */
export interface ExpectationRecord {
  readonly sourceId: string;
  readonly sourceType: string;
  readonly sourceName: string;
  readonly score: number;
  readonly at: number;
}

/** One step of a scenario, or of a simulation of it. */
export interface Inject {
  readonly id: string;
  readonly tenant: string;
  readonly scenario: string | null;
  readonly simulation: string | null;
  title: string;
  /** What is about it beyond what is seeded; what a contract's injects have where left out. */
  details?: InjectDetails;
  contract: Contract;
  delaySeconds: number;
  enabled: boolean;
  teams: readonly string[];
  assets: readonly string[];
  assetGroups: readonly string[];
  tags: readonly string[];
  /** When it was asked to run ahead of its time, or by itself. */
  triggeredAt?: number | null;
  status: { readonly id: string; name: string; readonly sentAt: number; endAt: number | null } | null;
  expectations: Expectation[];
  readonly createdAt: number;
  updatedAt: number;
}

/** What a write of an inject keeps besides. */
export interface InjectDetails {
  readonly description: string | null;
  readonly content: Readonly<Record<string, unknown>> | null;
  readonly allTeams: boolean;
  readonly country: string | null;
  readonly city: string | null;
  readonly dependsOn: readonly unknown[];
  readonly documents: readonly { readonly document_id: string; readonly document_attached: boolean }[];
}

/** What an inject brought to light. */
export interface Finding {
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly field: string;
  readonly value: string;
  readonly inject: string;
  readonly labels: readonly string[];
  readonly assets: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Everything, by id. */
export interface World {
  readonly tenants: Map<string, Tenant>;
  /** By e-mail in lower case. */
  readonly users: Map<string, User>;
  readonly tags: Map<string, Tag>;
  readonly techniques: Map<string, Technique>;
  readonly contracts: Map<string, Contract>;
  readonly teams: Map<string, Team>;
  readonly endpoints: Map<string, Endpoint>;
  readonly assetGroups: Map<string, AssetGroup>;
  readonly scenarios: Map<string, Scenario>;
  readonly simulations: Map<string, Simulation>;
  readonly injects: Map<string, Inject>;
  readonly findings: Map<string, Finding>;
  /** The objects of the kinds that no other table is for, by their path. */
  readonly entries: Map<string, Map<string, Entry>>;
}

/** A platform without any object. */
export function emptyWorld(): World {
  return {
    tenants: new Map(),
    users: new Map(),
    tags: new Map(),
    techniques: new Map(),
    contracts: new Map(),
    teams: new Map(),
    endpoints: new Map(),
    assetGroups: new Map(),
    scenarios: new Map(),
    simulations: new Map(),
    injects: new Map(),
    findings: new Map(),
    entries: new Map(),
  };
}

/** The rows of ids, in their order; ids of nothing are left out. */
export function rowsOf<Row>(map: ReadonlyMap<string, Row>, ids: readonly string[]): Row[] {
  return ids.flatMap((id) => {
    const row = map.get(id);
    return row === undefined ? [] : [row];
  });
}
