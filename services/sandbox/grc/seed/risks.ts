import { RISK_MATRIX } from "../kinds/matrices.js";
import { seededId } from "../world.js";
import type { Plot, Sower } from "./sower.js";
import { ATTACKS, RISKS } from "./texts.js";

/** Seeds a tenant's risk assessments with their scenarios. */
export function seedRisks(sower: Sower, { key, short, home, asset, owner }: Plot): void {
  const treatments = ["mitigate", "open", "accept", "transfer", "avoid", "mitigate", "cancelled"];
  for (let a = 0; a < 3; a++) {
    const names = [`${short} yearly risk review`, `${short} cloud risk review`, `${short} supplier risk review`];
    const assessment = sower.add("risk-assessments", `${key}:${a}`, home(a), names[a]!, {
      perimeter: seededId(`perimeters:${key}`),
      risk_matrix: seededId("risk-matrices:5x5"),
      version: "1.0",
      status: ["planned", "in_progress", "done"][a]!,
      // What the second tenant has finished is closed.
      is_locked: a === 2 && key === "baltic",
      ref_id: null,
    });
    RISKS.forEach((name, i) => {
      const probability = (i + a + 3) % 5;
      const impact = 4 - ((i * 2 + a) % 5);
      const residual = Math.max(0, probability - 2);
      sower.add("risk-scenarios", `${key}:${a}:${i}`, assessment.folder, `${short} ${name}`, {
        ref_id: `R.${i + 1}`,
        existing_controls: "",
        justification: null,
        risk_assessment: assessment.id,
        risk_matrix: assessment.risk_matrix!,
        treatment: treatments[i % treatments.length]!,
        strength_of_knowledge: -1,
        inherent_proba: 4,
        inherent_impact: impact,
        inherent_level: RISK_MATRIX.grid[4]![impact]!,
        current_proba: probability,
        current_impact: impact,
        current_level: RISK_MATRIX.grid[probability]![impact]!,
        residual_proba: residual,
        residual_impact: impact,
        residual_level: RISK_MATRIX.grid[residual]![impact]!,
        assets: [asset(i + 1)],
        owner: i % 3 === 0 ? [seededId(`actor:${owner}`)] : [],
        applied_controls: [seededId(`applied-controls:${key}:${i * 2}`)],
        existing_applied_controls: [seededId(`applied-controls:${key}:${i * 2 + 1}`)],
      });
    });
  }
}

/** Seeds a tenant's EBIOS RM studies with their operational scenarios. */
export function seedAttacks(sower: Sower, { key, short, home }: Plot): void {
  for (let s = 0; s < 2; s++) {
    const name = `${short} EBIOS study ${2026 + s}`;
    // The second lies in another domain; the first tenant's says of nothing how grave it is.
    const isGraded = s === 0 || key !== "northwind";
    const study = sower.add("ebios-rm/studies", `${key}:${s}`, home(s * 2), name, {
      ref_id: null,
      status: "in_progress",
    });
    ATTACKS.forEach(([path, origin, objective, mode], i) => {
      // The last of the first tenant goes by a path of another one's study.
      const isLinked = key === "northwind" && s === 1 && i === ATTACKS.length - 1;
      const [owner, by] = isLinked ? ["baltic", "Baltic"] : [key, short];
      const of = (kind: string, str: string) => ({ str, id: seededId(`${kind}:${owner}:${s}:${i}`) });
      const strategic = of("strategic", `${by} through ${path.toLowerCase()}`);
      sower.add("ebios-rm/operational-scenarios", `${key}:${s}:${i}`, study.folder, `${strategic.str} - ${path}`, {
        ref_id: `AP.${String(i + 1).padStart(2, "0")}`,
        ebios_rm_study: study.id,
        attack_path: {
          ...of("path", path),
          name: path,
          description: null,
          strategic_scenario: strategic,
          form_display_name: `${path} (${strategic.str})`,
          folder: isLinked ? seededId("folder:baltic") : study.folder,
        },
        ro_to: {
          ...of("roto", `${origin} - ${objective}`),
          risk_origin: of("origin", origin),
          target_objective: objective,
        },
        strategic_scenario: { ...strategic, name: strategic.str, description: null },
        likelihood: (i + s) % 4,
        gravity: isGraded || isLinked ? 3 - (i % 4) : -1,
        operating_modes_description: mode,
        is_selected: i % 4 !== 3,
      });
    });
  }
}
