import type { Base, CollectionSpec, DocCollection, Store } from "../shared/store/store.js";
import type { Governed } from "./policy.js";

/** What every object of ours has. */
export interface ObjectRecord extends Base, Governed {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly enabled: boolean;
  /** Changes with every write. */
  readonly etag: string;
  /** The creator and their request_id, else the object's own id: makes creation idempotent. */
  readonly request: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Of what ships with the product: the digest of its file. */
  readonly content_hash?: string;
}

/** An agent. */
export interface AgentRecord extends ObjectRecord {
  readonly instructions: string;
  readonly model: string;
  readonly tools: readonly string[];
  /** Ids; one whose skill is gone is skipped by whoever runs the agent. */
  readonly skills: readonly string[];
  readonly knowledge_bases: readonly string[];
}

/** A skill. */
export interface SkillRecord extends ObjectRecord {
  /** The body of SKILL.md. */
  readonly instructions: string;
  readonly files: readonly SkillFileRecord[];
}

/** A file of a skill; its path is relative to the skill. */
export interface SkillFileRecord {
  readonly path: string;
  readonly text: string;
  readonly bytes: number;
}

/** The records of this service. */
export interface Collections {
  readonly agents: DocCollection<AgentRecord>;
  readonly skills: DocCollection<SkillRecord>;
}

// `access` leads every read; unique indexes begin with what a cluster would be
// sharded by.
const OBJECT_INDEXES = [
  { name: "access", key: { access: 1, _id: -1 } },
  { name: "request", key: { owner: 1, request: 1 }, unique: true },
  { name: "origin", key: { origin: 1 } },
] as const;

const COLLECTIONS: readonly CollectionSpec[] = [
  { name: "agents", indexes: [...OBJECT_INDEXES, { name: "skills", key: { skills: 1 } }] },
  { name: "skills", indexes: [...OBJECT_INDEXES, { name: "name", key: { name: 1 } }] },
];

/** Opens this service's collections, creating what is missing. */
export async function openCollections(store: Store): Promise<Collections> {
  await store.ensure(COLLECTIONS);
  return { agents: store.collection("agents"), skills: store.collection("skills") };
}
