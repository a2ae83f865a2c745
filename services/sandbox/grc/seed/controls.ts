import { addVersion } from "../kinds/evidence.js";
import { type Json, seededId } from "../world.js";
import type { Plot, Sower } from "./sower.js";
import { CONTROLS, SYSTEMS } from "./texts.js";

/** Seeds a tenant's assets. */
export function seedAssets(sower: Sower, { key, short, home }: Plot): void {
  SYSTEMS.forEach((system, i) => {
    sower.add("assets", `${key}:${i}`, i < 2 ? home(0) : home(i), `${short} ${system}`, {
      ref_id: `AST-${key.charAt(0)}-${i + 1}`,
      type: i % 4 === 0 ? "PR" : "SP",
      parent_assets: i % 4 === 0 ? [] : [seededId(`assets:${key}:${i - (i % 4)}`)],
    });
  });
}

/** How a control is named the second and third time a tenant has it. */
const NAMES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `${name} in production`,
  (name) => `${name} at suppliers`,
];

/** Seeds a tenant's controls; the evidence that they name is there. */
export function seedControls(sower: Sower, { key, short, home, asset, owner }: Plot): void {
  const statuses = ["in_progress", "active", "to_do", "on_hold", "degraded", "active", "deprecated"];
  for (let i = 0; i < CONTROLS.length * 3; i++) {
    const [name, category, csf_function] = CONTROLS[i % CONTROLS.length]!;
    const turn = Math.floor(i / CONTROLS.length);
    // The first two lie in the tenant's own domain.
    const folder = i < 2 ? home(0) : home(i + turn);
    const status = statuses[i % statuses.length]!;
    const evidence = seededId(`evidences:${key}:${i % 60}`);
    const control = sower.add("applied-controls", `${key}:${i}`, folder, `${short} ${NAMES[turn]!(name)}`, {
      ref_id: i % 2 === 0 ? `C-${key.charAt(0)}-${i + 1}` : null,
      status,
      category,
      csf_function,
      priority: (i % 4) + 1,
      effort: ["M", "S", "L", "XS", "XL", null][i % 6] ?? null,
      control_impact: i % 5 === 4 ? null : 4 - (i % 4),
      progress_field: status === "active" ? 100 : (i * 7) % 90,
      eta: i % 3 === 0 ? `${i % 4 === 0 ? 2026 : 2027}-0${(i % 9) + 1}-15` : null,
      ...(i % 6 === 0 && { cost: costOf(i) }),
      link: null,
      observation: null,
      reference_control: seededId(`reference-controls:CTL.${String((i % CONTROLS.length) + 1).padStart(2, "0")}`),
      owner: i % 5 === 0 ? [seededId(`actor:${owner}`)] : [],
      assets: [asset(i)],
      evidences: i < 60 ? [evidence] : [],
    });
    const proof = sower.world.get("evidences", evidence)!;
    if (i < 60) proof.applied_controls = [control.id];
  }
}

/** What a control costs, as people record it. */
function costOf(i: number): Json {
  return {
    currency: "€",
    amortization_period: (i % 3) + 1,
    build: { fixed_cost: 1_000 * (i + 1), people_days: i % 5 },
    run: { fixed_cost: 250 * (i % 4), people_days: 2 },
  };
}

/** Seeds a tenant's evidence, most of it with a first version. */
export function seedEvidence(sower: Sower, { key, short, home, owner }: Plot): void {
  const kinds = ["screenshot", "export", "minutes", "report", "ticket"];
  const statuses = ["draft", "approved", "in_review", "approved", "expired", "missing", "rejected"];
  for (let i = 0; i < 60; i++) {
    const [name] = CONTROLS[i % CONTROLS.length]!;
    const title = `${short} ${name} ${kinds[(i + Math.floor(i / CONTROLS.length)) % kinds.length]}`;
    const evidence = sower.add("evidences", `${key}:${i}`, i < 2 ? home(0) : home(i), title, {
      status: statuses[i % statuses.length]!,
      expiry_date: i % 4 === 1 ? `${i % 8 === 1 ? 2026 : 2027}-0${(i % 9) + 1}-30`.replace("02-30", "02-28") : null,
      owner: i % 4 === 1 ? [seededId(`actor:${owner}`)] : [],
      applied_controls: [],
    });
    if (i % 3 === 0) continue;
    const link = `https://wiki.${key}.example/evidence/${i}`;
    addVersion(evidence, { link }, sower.world, seededId(`evidence-revisions:${key}:${i}`), sower.now());
  }
}
