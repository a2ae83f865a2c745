import type { BROKEN, Reply } from "../replies.js";
import { sees } from "../rights.js";
import type { Json, Row, User, World } from "../world.js";
import type { Choices } from "./choices.js";
import type { Body, Field } from "./field.js";

/** A query parameter that a list knows; all others are ignored without a word. */
export type Filter =
  | { readonly kind: "choice"; readonly choices: Choices; readonly of: (row: Row) => unknown }
  | {
      readonly kind: "related";
      readonly path: string;
      readonly of: (row: Row, world: World) => readonly string[];
      /** Of several values only the last counts. */
      readonly last?: boolean;
    }
  | { readonly kind: "exact" | "from" | "before"; readonly of: (row: Row) => unknown };

/** Where relations are drawn for one caller: what the caller may not see is `{}`. */
export class View {
  constructor(
    readonly world: World,
    readonly user: User,
    private readonly kinds: ReadonlyMap<string, Kind>,
  ) {}

  sees(path: string, row: Row): boolean {
    return sees(this.world, this.user, this.kinds.get(path)?.codename ?? "", row);
  }

  /** A related object; null for none. */
  ref(path: string, id: unknown, ...more: readonly string[]): Json {
    const row = this.world.get(path, id);
    if (row === undefined) return null;
    if (!this.sees(path, row)) return {};
    const extra = Object.fromEntries(more.map((field) => [field, row[field]]));
    return { str: this.str(path, row), id: row.id, ...extra };
  }

  /** A related object with its folder. */
  housed(path: string, id: unknown): Json {
    const row = this.world.get(path, id);
    if (row === undefined || !this.sees(path, row)) return this.ref(path, id);
    return { ...(this.ref(path, id) as object), folder: this.ref("folders", row.folder) };
  }

  refs(path: string, ids: readonly string[], ...more: readonly string[]): Json[] {
    return ids.map((id) => this.ref(path, id, ...more));
  }

  str(path: string, row: Row): string {
    return this.kinds.get(path)?.str?.(row, this) ?? row.name ?? "";
  }

  /** The folder of a row and the domains above it, topmost first. */
  path(folder: string): Json {
    const line = this.world.lineOf(folder).filter((id) => id !== this.world.rootId);
    return line.reverse().map((id) => ({ id, str: this.world.get("folders", id)?.name ?? "" }));
  }
}

/** One kind of object and the routes under /api/{path}/. */
export interface Kind {
  readonly path: string;
  /** The name of its model, which goes into "No … matches the given query." */
  readonly model: string;
  /** The model as its codenames have it. */
  readonly codename: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly filters: Readonly<Record<string, Filter>>;
  readonly search: readonly string[];
  /** How it is named in relations; its name where left out. */
  readonly str?: (row: Row, view: View) => string;
  readonly read: (row: Row, view: View) => Json;
  /** The form of a list's rows, where it is not that of one. */
  readonly row?: (row: Row, view: View) => Json;
  /** The form in which writes answer. */
  readonly written: (row: Row) => Json;
  readonly verbs: readonly ("POST" | "PATCH" | "DELETE")[];
  /** Where a new object goes when its body does not say. */
  readonly folderOf?: (body: Body, world: World) => string | undefined;
  /** The pair of ref_id and name is taken only once in a folder. */
  readonly unique?: boolean;
  /** Fields that a caller may not write, which are dropped without a word. */
  readonly closed?: (row: Row, view: View) => readonly string[];
  /** Checks and derives before an object is saved; an answer refuses, or breaks off. */
  readonly save?: (row: Row, patch: Body, world: World) => Json | typeof BROKEN | undefined;
  /** Creates in its own way. */
  readonly create?: (body: Body, view: View) => Reply;
  /** GET /api/{path}/{id}/{action}/, by action. */
  readonly actions?: Readonly<Record<string, (id: string, view: View) => Reply>>;
  /** What nobody deletes. */
  readonly isBuiltIn?: (row: Row) => boolean;
  readonly created?: (row: Row, world: World) => void;
  readonly deleted?: (row: Row, world: World) => void;
}

/** The fields of a row that have these names, null where it has none. */
export function pick(row: Row, names: readonly string[]): Record<string, Json> {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}

/** Empty lists by these names. */
export const empty = (names: readonly string[]): Record<string, Json> => Object.fromEntries(names.map((n) => [n, []]));

/** The filters by the time of creation. */
export const BY_TIME: Readonly<Record<string, Filter>> = {
  created_at__gte: { kind: "from", of: (row) => row.created_at },
  created_at__lt: { kind: "before", of: (row) => row.created_at },
};

/** The filter by folder, which does not descend. */
export const BY_FOLDER: Filter = { kind: "related", path: "folders", of: (row) => [row.folder] };
