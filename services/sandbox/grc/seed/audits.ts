import { assess } from "../kinds/assessments.js";
import { HIDDEN_SCORES } from "../kinds/library.js";
import { type Json, seededId } from "../world.js";
import type { Plot, Sower } from "./sower.js";
import { CONTROLS } from "./texts.js";

/** Seeds a tenant's audits: one with hidden scores, one with visible ones, and for the first tenant one that is locked. */
export function seedAudits(sower: Sower, { key, short, home }: Plot): void {
  audit(sower, `${key}:csf`, home(0), `${short} CSF review`, "nist-csf-2.0", key, {});
  const shown = {
    score: { auditor: "edit", respondent: "hidden" },
    is_scored: { auditor: "edit", respondent: "hidden" },
  };
  const visible = { field_visibility: { ...(HIDDEN_SCORES as object), ...shown } };
  audit(sower, `${key}:iso`, home(2), `${short} ISO 27001 internal audit`, "iso27001-2022", key, visible);
  if (key === "northwind") {
    audit(sower, `${key}:locked`, home(0), `${short} CSF review of last year`, "nist-csf-2.0", key, {
      ...visible,
      is_locked: true,
      status: "done",
    });
  }
}

function audit(
  sower: Sower,
  key: string,
  folder: string,
  name: string,
  framework: string,
  tenant: string,
  more: Record<string, Json>,
): void {
  const { min_score, max_score, scores_definition, id } = sower.world.get(
    "frameworks",
    seededId(`frameworks:${framework}`),
  )!;
  const opened = sower.add("compliance-assessments", key, folder, name, {
    framework: id,
    perimeter: seededId(`perimeters:${tenant}`),
    ref_id: null,
    version: "1.0",
    status: "in_progress",
    is_locked: false,
    min_score: min_score!,
    max_score: max_score!,
    scores_definition: scores_definition!,
    score_calculation_method: "average",
    anchor_na_to_target: false,
    auto_sync: false,
    field_visibility: HIDDEN_SCORES,
    ...more,
  });
  let count = 0;
  const results = ["not_assessed", "partially_compliant", "compliant", "non_compliant", "not_applicable"];
  for (const node of sower.world.all("requirement-nodes")) {
    if (node.framework !== id) continue;
    const one = assess(
      opened,
      node,
      sower.world,
      seededId(`requirement-assessments:${key}:${node.ref_id}`),
      sower.now(),
    );
    if (node.assessable !== true) continue;
    count += 1;
    // The first two of each audit are left as they were opened.
    if (count <= 2) continue;
    one.result = results[count % results.length]!;
    one.applied_controls = [seededId(`applied-controls:${tenant}:${(count + 1) % (CONTROLS.length * 3)}`)];
    if (count % 3 === 0 && one.result !== "not_assessed") {
      one.is_scored = true;
      one.score = Number(min_score) + (count % (Number(max_score) - Number(min_score) + 1));
    }
  }
}
