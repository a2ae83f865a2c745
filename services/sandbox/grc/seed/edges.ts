import { assess } from "../kinds/assessments.js";
import { HIDDEN_SCORES } from "../kinds/library.js";
import { type Json, type Row, seededId, type World } from "../world.js";
import type { Sower } from "./sower.js";

// What lies beside and above the domains of a tenant: the audit of a supplier,
// in an enclave of its own and of a part of its framework; risks of an
// assessment without a perimeter; and objects that all tenants share.

/** Older than all else, so that what is listed newest first begins as it would without it. */
const EARLY = "2026-02-01T08:00:00.000217Z";

/** The enclave of the supplier's audit. */
export const ENCLAVE = "folder:northwind-supplier";

/** Seeds them, for the first tenant. */
export function seedEdges(sower: Sower): void {
  const { world } = sower;
  const tenant = seededId("folder:northwind");
  const at = sower.now();
  world.insert("folders", {
    id: seededId(ENCLAVE),
    folder: tenant,
    name: "Kestrel Hosting/Yearly review",
    created_at: at,
    updated_at: at,
    description: null,
    content_type: "EN",
    parent_folder: tenant,
    create_iam_groups: false,
  });
  seedSupplierAudit(sower);
  assign(world);

  const early = (path: string, key: string, folder: string, name: string, fields: Record<string, Json>): Row =>
    world.insert(path, { ...sower.add(path, key, folder, name, fields), created_at: EARLY });
  const assessment = (key: string, folder: string, name: string) =>
    early("risk-assessments", key, folder, name, {
      perimeter: null,
      risk_matrix: seededId("risk-matrices:5x5"),
      version: "1.0",
      status: "planned",
      is_locked: false,
      ref_id: null,
    });
  // As old as others, which are rated.
  const risk = (key: string, of: Row, name: string) =>
    world.insert("risk-scenarios", {
      ...sower.add("risk-scenarios", key, of.folder, name, {
        ...UNRATED,
        ref_id: "R.1",
        risk_assessment: of.id,
        risk_matrix: of.risk_matrix!,
        assets: [],
        applied_controls: [],
        existing_applied_controls: [],
      }),
      created_at: world.get("risk-scenarios", seededId(`risk-scenarios:${key.split(":")[0]}:2:0`))?.created_at ?? EARLY,
    });
  const project = assessment("northwind:project", seededId("folder:northwind-grid"), "Northwind project risks");
  risk("northwind:project:0", project, "Northwind data centre move fails");
  risk("northwind:project:1", project, "Northwind data centre move is late");
  const vault = assessment("baltic:project", seededId("folder:baltic"), "Baltic project risks");
  risk("baltic:project:0", vault, "Baltic vault move fails");
  const shared = assessment("shared", world.rootId, "Shared risks");
  risk("shared:0", shared, "Shared identity provider fails");
  // What carries something of a domain that not everybody sees.
  const asset = (key: string, domain: string, name: string, type: string, parent_assets: string[]) =>
    early("assets", `northwind:${key}`, seededId(`folder:northwind-${domain}`), name, {
      ref_id: "",
      type,
      parent_assets,
    }).id;
  const room = asset("room", "grid", "Northwind control room", "PR", []);
  asset("till", "retail", "Northwind till", "SP", [seededId("assets:northwind:0"), room]);
  early("applied-controls", "shared", world.rootId, "Shared awareness training", {
    ref_id: null,
    status: "active",
    category: "process",
    csf_function: "protect",
    priority: null,
    effort: null,
    control_impact: null,
    progress_field: 100,
    eta: null,
    link: null,
    observation: null,
    reference_control: null,
    owner: [],
    assets: [],
    evidences: [],
  });
  early("evidences", "shared", world.rootId, "Shared training record", {
    status: "approved",
    expiry_date: null,
    applied_controls: [],
  });
}

/** Gives two requirements of an audit to one who answers them. */
function assign(world: World): void {
  const audit = "northwind:csf";
  const given = [
    world.get("compliance-assessments", seededId(`compliance-assessments:${audit}`))!,
    ...["GV.OC-01", "GV.OC-02"].map(
      (ref) => world.get("requirement-assessments", seededId(`requirement-assessments:${audit}:${ref}`))!,
    ),
  ];
  for (const row of given) row.assigned_to = [seededId("actor:auditee")];
}

const UNRATED = {
  existing_controls: "",
  justification: null,
  treatment: "open",
  strength_of_knowledge: -1,
  ...Object.fromEntries(
    ["inherent", "current", "residual"].flatMap((stage) =>
      ["proba", "impact", "level"].map((one) => [`${stage}_${one}`, -1]),
    ),
  ),
};

function seedSupplierAudit(sower: Sower): void {
  const { world } = sower;
  const framework = world.get("frameworks", seededId("frameworks:iso27001-2022"))!;
  const { id, min_score = null, max_score = null } = framework;
  const audit = sower.add("compliance-assessments", "northwind:supplier", seededId(ENCLAVE), "Kestrel Hosting review", {
    framework: id,
    perimeter: seededId("perimeters:northwind"),
    ref_id: null,
    version: "1.0",
    status: "in_progress",
    is_locked: false,
    min_score,
    max_score,
    scores_definition: null,
    score_calculation_method: "average",
    anchor_na_to_target: false,
    auto_sync: false,
    selected_implementation_groups: ["Clauses"],
    assigned_to: [seededId("actor:supplier")],
    field_visibility: { ...(HIDDEN_SCORES as object), applied_controls: { auditor: "edit", respondent: "read" } },
  });
  for (const node of world.all("requirement-nodes")) {
    if (node.framework !== id) continue;
    const one = assess(
      audit,
      node,
      world,
      seededId(`requirement-assessments:northwind:supplier:${node.ref_id}`),
      sower.now(),
    );
    one.assigned_to = audit.assigned_to!;
    // A control answers one requirement that the audit covers, and one that it does not.
    if (node.ref_id === "4.1" || node.ref_id === "A.5.1") one.applied_controls = [seededId(SUPPLIER_CONTROL)];
  }
}

/** Of the tenant, and for the supplier. */
const SUPPLIER_CONTROL = "applied-controls:northwind:119";
