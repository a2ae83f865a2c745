import { BROKEN, ok } from "../replies.js";
import { sees } from "../rights.js";
import { idsIn, type Json, type Row } from "../world.js";
import { FOLDER_TYPE, labelOf } from "./choices.js";
import { BY_FOLDER, empty, type Kind, pick, type View } from "./kind.js";

/** Scores are hidden by default. */
export const HIDDEN_SCORES: Json = {
  score: { auditor: "hidden", respondent: "hidden" },
  is_scored: { auditor: "hidden", respondent: "hidden" },
  documentation_score: { auditor: "hidden", respondent: "hidden" },
  status: { auditor: "edit", respondent: "hidden" },
  extended_result: { auditor: "edit", respondent: "hidden" },
  respondent_alignment: { auditor: "hidden", respondent: "hidden" },
};

const LOCALE = { locale: "en", default_locale: true, is_published: true };
const LIBRARY = ["id", "name", "description", "annotation", "created_at", "updated_at", "urn", "ref_id", "provider"];

/** Folders: the root, domains and what lies in them. */
export const folders: Kind = {
  path: "folders",
  model: "Folder",
  codename: "folder",
  verbs: ["POST", "DELETE"],
  search: ["name"],
  fields: {
    name: { kind: "text", required: true },
    description: { kind: "text" },
    parent_folder: { kind: "one", path: "folders" },
    create_iam_groups: { kind: "boolean", initial: false },
    content_type: { kind: "choice", choices: FOLDER_TYPE, initial: "DO" },
  },
  folderOf: (body, world) => (typeof body.parent_folder === "string" ? body.parent_folder : world.rootId),
  save(row, _patch, world) {
    row.parent_folder ??= world.rootId;
    return undefined;
  },
  isBuiltIn: ({ parent_folder }) => parent_folder === null,
  // With all they hold.
  deleted(row, world) {
    for (const path of world.paths) {
      for (const one of world.all(path)) {
        if (world.lineOf(one.folder).includes(row.id)) world.table(path).delete(one.id);
      }
    }
  },
  filters: {
    content_type: { kind: "choice", choices: FOLDER_TYPE, of: (row) => row.content_type },
    parent_folder: { kind: "related", path: "folders", of: (row) => [row.parent_folder as string] },
  },
  row: (row, view) => folderOf(row, view, view.world.lineOf(row.id).slice(1)),
  read: (row, view) => folderOf(row, view, view.world.lineOf(row.id)),
  written: (row) => pick(row, ["id", "name", "description"]),
};

function folderOf(row: Row, view: View, line: readonly string[]): Json {
  const above = line.filter((id) => id !== view.world.rootId || row.id === view.world.rootId).reverse();
  return {
    ...pick(row, ["id", "created_at", "updated_at", "name", "description", "create_iam_groups"]),
    path: above.map((id) => ({ id, str: view.world.get("folders", id)?.name ?? "" })),
    parent_folder: view.ref("folders", row.parent_folder),
    filtering_labels: [],
    content_type: labelOf(FOLDER_TYPE, row.content_type),
    is_published: true,
    builtin: row.parent_folder === null,
  };
}

/** The library that an object came with, for whom may see libraries. */
export function libraryOf({ world, user }: View, library: Readonly<Record<string, Json>>): Json {
  return sees(world, user, "loadedlibrary", world.get("folders", world.rootId)!) ? library : {};
}

/** Frameworks with their scales. */
export const frameworks: Kind = {
  path: "frameworks",
  model: "Framework",
  codename: "framework",
  verbs: ["DELETE"],
  // The tree alone checks no right.
  actions: {
    tree: (id, view) => {
      const framework = view.world.get("frameworks", id);
      return framework === undefined ? BROKEN : ok(treeOf(framework, view));
    },
  },
  search: ["name", "description"],
  fields: {},
  filters: { folder: BY_FOLDER, provider: { kind: "exact", of: (row) => row.provider } },
  str: (row) => `${row.provider} - ${row.name}`,
  read: (row, view) => ({
    ...pick(row, [...LIBRARY, "min_score", "max_score", "scores_definition"]),
    ...LOCALE,
    folder: view.ref("folders", row.folder),
    library: libraryOf(view, {
      str: `${row.ref_id} - ${row.name}`,
      name: row.name,
      id: row.library as string,
      urn: `${row.urn}-library`,
    }),
    // The names of the library's controls come printed, without ids.
    reference_controls: view.world.all("reference-controls").map((control) => ({
      str: `{'str': '${control.ref_id} - ${control.name}', 'id': UUID('${control.id}')}`,
      id: null,
    })),
    is_dynamic: false,
    has_update: false,
    has_compliance_assessments: view.world.all("compliance-assessments").some((a) => a.framework === row.id),
    effective_field_visibility: HIDDEN_SCORES,
    implementation_groups_definition: row.implementation_groups_definition ?? [],
    outcomes_definition: [],
    field_visibility: {},
    urn_namespace: "custom",
  }),
  written: (row) => pick(row, LIBRARY),
};

const NODE_NULLS = ["questions", "typical_evidence", "implementation_groups", "visibility_expression", "min_score"];
const NODE_MORE_NULLS = ["max_score", "scores_definition_ref", "target_score"];

/** How a requirement is named in one line. */
export function shortOf(node: Row): string {
  return node.name === null ? String(node.ref_id) : `${node.ref_id} - ${node.name}`;
}

/** Requirements of frameworks. */
export const requirementNodes: Kind = {
  path: "requirement-nodes",
  model: "RequirementNode",
  codename: "requirementnode",
  verbs: [],
  search: ["name"],
  fields: {},
  filters: {
    framework: { kind: "related", path: "frameworks", of: (row) => [row.framework as string] },
    urn: { kind: "exact", of: (row) => row.urn },
  },
  read: (row, view) => ({
    ...pick(row, [...LIBRARY, "parent_urn", "order_id", "assessable", "folder", "framework"]),
    ...pick(row, [...NODE_NULLS, ...NODE_MORE_NULLS]),
    ...LOCALE,
    reference_controls: view.refs("reference-controls", idsIn(row, "reference_controls")),
    threats: [],
    display_short: shortOf(row),
    display_long: `${shortOf(row)}: ${row.description}`,
    weight: 1,
    importance: "undefined",
    display_mode: "default",
  }),
  written: (row) => pick(row, LIBRARY),
};

const TREE_NULLS = ["ra_id", "status", "result", "extended_result", "is_scored", "score"];
const TREE_MORE_NULLS = ["documentation_score", "max_score", "min_score", "questions", "answers", "mapping_inference"];
const TREE_LAST_NULLS = ["status_display", "status_i18n", "result_i18n"];

/**
 * A framework's requirements, each under its parent.
 *
 * @param told what an audit says of a requirement.
 * @param covers whether requirements of these groups are in it; one with such below it is, too.
 */
export function treeOf(
  framework: Row,
  view: View,
  told: (node: Row) => Record<string, Json> | undefined = () => undefined,
  covers: (groups: readonly string[]) => boolean = () => true,
): Json {
  const nodes = view.world.all("requirement-nodes").filter((node) => node.framework === framework.id);
  const children = new Map<Json, Row[]>();
  for (const node of nodes) {
    const parent = node.parent_urn ?? null;
    children.set(parent, [...(children.get(parent) ?? []), node]);
  }
  const branch = (parent: Json): Record<string, Json> => {
    const found: Record<string, Json> = {};
    for (const node of children.get(parent) ?? []) {
      const below = branch(node.urn ?? null);
      if (!covers(idsIn(node, "implementation_groups")) && Object.keys(below).length === 0) continue;
      found[node.id] = {
        ...pick(node, ["urn", "parent_urn", "ref_id", "name", "assessable", "description", "implementation_groups"]),
        ...pick({ ...node, id: node.id, ...NONE }, [...TREE_NULLS, ...TREE_MORE_NULLS, ...TREE_LAST_NULLS]),
        ...told(node),
        weight: 1,
        node_content: `${shortOf(node)}: ${node.description}`,
        display_mode: "default",
        style: node.parent_urn === null ? "node" : "leaf",
        children: below,
      };
    }
    return found;
  };
  return branch(null);
}

const NONE = Object.fromEntries([...TREE_NULLS, ...TREE_MORE_NULLS, ...TREE_LAST_NULLS].map((name) => [name, null]));

/** Threats of libraries. */
export const threats: Kind = {
  path: "threats",
  model: "Threat",
  codename: "threat",
  verbs: [],
  search: ["name", "description", "provider", "ref_id"],
  fields: {},
  filters: { folder: BY_FOLDER },
  read: (row, view) => ({ ...pick(row, LIBRARY), ...LOCALE, path: [], folder: view.ref("folders", row.folder) }),
  written: (row) => pick(row, LIBRARY),
};

/** Security advisories, CVEs above all. */
export const securityAdvisories: Kind = {
  path: "security-advisories",
  model: "SecurityAdvisory",
  codename: "securityadvisory",
  verbs: [],
  search: ["name", "ref_id", "description", "cvss_vector", "aliases"],
  fields: {},
  filters: { folder: BY_FOLDER, source: { kind: "exact", of: (row) => row.source } },
  str: (row) => String(row.ref_id ?? row.name ?? row.id),
  read: (row, view) => ({
    ...pick(row, [...LIBRARY, "source", "published_date", "cvss_base_score", "cvss_vector", "epss_score"]),
    ...pick(row, ["epss_percentile", "is_actively_exploited", "exploited_date_added", "library"]),
    ...LOCALE,
    ...empty(["path", "filtering_labels", "references", "aliases"]),
    folder: view.ref("folders", row.folder),
  }),
  written: (row) => pick(row, LIBRARY),
};

/** Risk matrices. */
export const riskMatrices: Kind = {
  path: "risk-matrices",
  model: "RiskMatrix",
  codename: "riskmatrix",
  verbs: [],
  search: ["name", "description"],
  fields: {},
  filters: { folder: BY_FOLDER },
  read: (row, view) => ({
    ...pick(row, [...LIBRARY, "json_definition"]),
    ...LOCALE,
    folder: view.ref("folders", row.folder),
    library: libraryOf(view, { str: `${row.ref_id} - ${row.name}`, name: row.name, id: row.library as string }),
    editing_languages: ["en"],
    is_enabled: true,
  }),
  written: (row) => pick(row, LIBRARY),
};

/** Whom things are assigned to. */
export const actors: Kind = {
  path: "actors",
  model: "Actor",
  codename: "actor",
  verbs: [],
  search: [],
  fields: {},
  filters: {},
  read: (row) => ({ id: row.id, str: row.name, type: "user", specific: { str: row.name, id: row.id } }),
  written: (row) => pick(row, ["id"]),
};
