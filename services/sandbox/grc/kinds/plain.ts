import type { Json, Row } from "../world.js";
import { idsIn } from "../world.js";
import { labelOf } from "./choices.js";
import type { Field } from "./field.js";
import { BY_FOLDER, BY_TIME, type Filter, type Kind, pick, type View } from "./kind.js";
import type { PlainKind } from "./table.js";

const COMMON = ["id", "created_at", "updated_at", "name", "description"];

/** A kind of object with its routes, made of its row in the table. */
export function kindOf(plain: PlainKind): Kind {
  const { path, model, fields, search, fixed = {}, without = [] } = plain;
  const filters = Object.fromEntries(
    plain.filters.map((name) => [name, BY_TIME[name] ?? filterOf(name, fields[name])]),
  );
  const leave = (answer: Record<string, Json>): Json =>
    Object.fromEntries(Object.entries(answer).filter(([name]) => !without.includes(name)));
  return {
    path,
    model,
    codename: model.toLowerCase(),
    verbs: ["POST", "PATCH", "DELETE"],
    search,
    fields: { ...fields, folder: { kind: "one", path: "folders" } },
    filters: { folder: BY_FOLDER, ...filters },
    unique: true,
    read: (row, view) =>
      leave({
        ...pick(row, COMMON),
        path: view.path(row.folder),
        is_published: row.is_published ?? false,
        ...fixed,
        ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, drawn(row, name, field, view)])),
        folder: view.ref("folders", row.folder),
      }),
    written: (row) => leave({ ...fixed, ...pick(row, [...COMMON, "folder", ...Object.keys(fields)]) }),
  };
}

function drawn(row: Row, name: string, field: Field, view: View): Json {
  switch (field.kind) {
    case "choice":
      return labelOf(field.choices, row[name]);
    case "one":
      return view.ref(field.path, row[name]);
    case "many":
      return view.refs(field.path, idsIn(row, name));
    default:
      return row[name] ?? field.initial ?? null;
  }
}

function filterOf(name: string, field: Field | undefined): Filter {
  switch (field?.kind) {
    case "choice":
      return { kind: "choice", choices: field.choices, of: (row) => row[name] };
    case "one":
      return { kind: "related", path: field.path, of: (row) => [row[name] as string] };
    case "many":
      return { kind: "related", path: field.path, of: (row) => idsIn(row, name) };
    default:
      return { kind: "exact", of: (row) => row[name] };
  }
}
