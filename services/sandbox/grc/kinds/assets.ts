import { idsIn, type Row, type World } from "../world.js";
import * as choices from "./choices.js";
import { BY_FOLDER, BY_TIME, empty, type Kind, pick } from "./kind.js";

const PLAIN = ["id", "created_at", "updated_at", "name", "description", "reference_link", "ref_id", "observation"];
const DORA = ["dora_licenced_activity", "dora_criticality_assessment", "dora_criticality_justification"];
const LISTS = ["solutions", "security_exceptions", "incidents", "organisation_objectives", "filtering_labels", "owner"];

/** Primary and supporting assets. */
export const assets: Kind = {
  path: "assets",
  model: "Asset",
  codename: "asset",
  verbs: ["POST", "PATCH", "DELETE"],
  search: ["name", "description", "ref_id", "folder__name"],
  fields: {
    name: { kind: "text", required: true },
    description: { kind: "text" },
    ref_id: { kind: "text", initial: "" },
    type: { kind: "choice", choices: choices.ASSET_TYPE, initial: "SP" },
    reference_link: { kind: "url" },
    observation: { kind: "text" },
    folder: { kind: "one", path: "folders" },
    parent_assets: { kind: "many", path: "assets" },
  },
  filters: {
    folder: BY_FOLDER,
    ...BY_TIME,
    type: { kind: "choice", choices: choices.ASSET_TYPE, of: (row) => row.type },
    parent_assets: { kind: "related", path: "assets", of: (row) => idsIn(row, "parent_assets") },
    applied_controls: { kind: "related", path: "applied-controls", of: () => [] },
  },
  row: (row, view) => ({
    ...pick(row, ["id", "ref_id", "name", "description", "asset_class", "created_at", "updated_at"]),
    type: choices.labelOf(choices.ASSET_TYPE, row.type),
    is_primary: row.type === "PR",
    is_business_function: false,
    folder: view.ref("folders", row.folder),
    ...empty(["owner", "filtering_labels", "security_objectives", "disaster_recovery_objectives"]),
    parent_assets: view.refs("assets", idsIn(row, "parent_assets")),
  }),
  read(row, view) {
    const children = view.world.all("assets").filter((one) => idsIn(one, "parent_assets").includes(row.id));
    return {
      ...pick(row, [...PLAIN, ...DORA, "dora_discontinuing_impact", "asset_class"]),
      ...empty([...LISTS, "applied_controls", "vulnerabilities", "personal_data", "overridden_children_capabilities"]),
      ...empty(["security_objectives", "disaster_recovery_objectives", "security_capabilities"]),
      ...empty(["recovery_capabilities", "security_objectives_comparison", "recovery_objectives_comparison"]),
      parent_assets: view.refs("assets", idsIn(row, "parent_assets")),
      // Both hold those that name it, and this one also what the caller may not see.
      children_assets: children.map(({ id, name }) => ({ id, str: name })),
      support_assets: view.refs(
        "assets",
        children.map(({ id }) => id),
      ),
      path: view.path(row.folder),
      folder: view.ref("folders", row.folder),
      type: choices.labelOf(choices.ASSET_TYPE, row.type),
      is_published: true,
      is_business_function: false,
    };
  },
  written: (row) => ({
    ...pick(row, [...PLAIN, ...DORA, "dora_discontinuing_impact", "asset_class", "type", "folder", "parent_assets"]),
    ...empty([...LISTS, "applied_controls", "vulnerabilities", "support_assets", "overridden_children_capabilities"]),
    security_objectives: {},
    disaster_recovery_objectives: {},
    security_capabilities: {},
    recovery_capabilities: {},
    is_published: true,
    is_business_function: false,
  }),
  save(row, patch, world) {
    const twin = world.all("assets").some((o) => o.id !== row.id && o.folder === row.folder && o.name === row.name);
    if (twin && patch.name !== undefined) {
      return { name: [`['${row.name} is already used in this scope. Please choose another value.']`] };
    }
    if (above(row, world, new Set()).has(row.id)) return { non_field_errors: ["errorAssetGraphMustNotContainCycles"] };
    return undefined;
  },
  deleted(row, world) {
    for (const one of world.all("assets")) {
      one.parent_assets = idsIn(one, "parent_assets").filter((id) => id !== row.id);
    }
  },
};

function above(row: Row, world: World, seen: Set<string>): Set<string> {
  for (const id of idsIn(row, "parent_assets")) {
    if (seen.has(id)) continue;
    seen.add(id);
    const parent = world.get("assets", id);
    if (parent !== undefined) above(parent, world, seen);
  }
  return seen;
}
