import { createHash } from "node:crypto";

/** A value of JSON; undefined members are left out. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined };

/** One object: the fields as they are written, with ids and codes. */
export interface Row {
  readonly id: string;
  folder: string;
  name: string | null;
  readonly created_at: string;
  updated_at: string;
  [field: string]: Json | undefined;
}

/** What a role allows, as the codenames of the platform. */
export interface Role {
  readonly code: string;
  /** The group that carries it. */
  readonly group: string;
  readonly codenames: ReadonlySet<string>;
}

/** A role on a folder and on everything inside it. */
export interface Grant {
  readonly folder: string;
  readonly role: Role;
}

/** An account. */
export interface User {
  readonly id: string;
  readonly actorId: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly active: boolean;
  readonly joinedAt: string;
  readonly grants: readonly Grant[];
}

/** What of a world outlives the platform's process. */
export interface KeptWorld {
  readonly rootId: string;
  readonly users: Map<string, User>;
  readonly tables: Map<string, Map<string, Row>>;
}

/** Everything the platform holds: tables by the path of their resource. */
export class World {
  readonly users: Map<string, User>;
  private readonly tables: Map<string, Map<string, Row>>;

  /**
   * @param rootId the folder above all tenants.
   * @param before what the platform was left with; it is empty where left out.
   */
  constructor(
    readonly rootId: string,
    before?: KeptWorld,
  ) {
    this.users = before?.users ?? new Map();
    this.tables = before?.tables ?? new Map();
  }

  /** The paths of the resources that hold anything. */
  get paths(): string[] {
    return [...this.tables.keys()];
  }

  /** What of it outlives the platform's process. */
  get kept(): KeptWorld {
    const { rootId, users, tables } = this;
    return { rootId, users, tables };
  }

  table(path: string): Map<string, Row> {
    let table = this.tables.get(path);
    if (table === undefined) {
      table = new Map();
      this.tables.set(path, table);
    }
    return table;
  }

  get(path: string, id: unknown): Row | undefined {
    return typeof id === "string" ? this.tables.get(path)?.get(id) : undefined;
  }

  all(path: string): Row[] {
    return [...(this.tables.get(path)?.values() ?? [])];
  }

  insert(path: string, row: Row): Row {
    this.table(path).set(row.id, row);
    return row;
  }

  userOf(email: string): User | undefined {
    return this.users.get(email.toLowerCase());
  }

  /** A folder and those above it, itself first. */
  lineOf(folder: string): string[] {
    const line: string[] = [];
    for (let id: Json | undefined = folder; typeof id === "string"; id = this.get("folders", id)?.parent_folder) {
      line.push(id);
    }
    return line;
  }
}

/** The ids in a many-valued field. */
export function idsIn(row: Row, field: string): string[] {
  return (row[field] as string[] | undefined) ?? [];
}

/** The id of a seeded object: a UUID that is the same at every start. */
export function seededId(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
}

/** The present time as the platform writes it. */
export function timestamp(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
