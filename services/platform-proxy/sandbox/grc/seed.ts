import { RISK_MATRIX } from "./matrices.js";
import { assess } from "./resources-assessments.js";
import { addVersion } from "./resources-evidence.js";
import { HIDDEN_SCORES } from "./resources-library.js";
import { CSF, CSF_LEVELS, ISO } from "./seed-frameworks.js";
import { ADVISORIES, ATTACKS, CONTROLS, RISKS, SYSTEMS, TENANTS, THREATS } from "./seed-texts.js";
import { seedUsers } from "./seed-users.js";
import { type Json, type Row, seededId, World } from "./world.js";

const START = Date.parse("2026-02-02T08:00:00Z");

/** Fills a platform: the same objects with the same ids at every start. */
export function seedWorld(): World {
  return new Seed().run();
}

class Seed {
  private readonly world = new World(seededId("folder:root"));
  private tick = 0;

  run(): World {
    this.folder("root", null, "Global", "GL");
    this.library();
    TENANTS.forEach(({ key, name, domains }, index) => {
      this.folder(key, "root", name, "DO");
      for (const [domain, domainName, parent] of domains) this.folder(domain, parent, domainName, "DO");
      this.tenant(key, name.split(" ")[0]!, [key, ...domains.map(([domain]) => domain)], index);
    });
    seedUsers(this.world, this.now());
    return this.world;
  }

  private now(): string {
    this.tick += 1;
    return new Date(START + this.tick * 61_000).toISOString().replace("Z", "217Z");
  }

  private add(path: string, key: string, folder: string, name: string | null, fields: Record<string, Json>): Row {
    const at = this.now();
    const common = { id: seededId(`${path}:${key}`), folder, name, created_at: at, updated_at: at, description: null };
    return this.world.insert(path, { ...common, ...fields });
  }

  private folder(key: string, parent: string | null, name: string, type: string): void {
    const at = this.now();
    this.world.insert("folders", {
      id: seededId(`folder:${key}`),
      folder: parent === null ? seededId("folder:root") : seededId(`folder:${parent}`),
      name,
      created_at: at,
      updated_at: at,
      description: null,
      content_type: type,
      parent_folder: parent === null ? null : seededId(`folder:${parent}`),
      create_iam_groups: parent === "root",
    });
  }

  private library(): void {
    const { rootId } = this.world;
    const shared = { annotation: null, library: seededId("library"), provider: "sallyport" };
    CONTROLS.forEach(([name, category, csf_function], i) => {
      const ref = `CTL.${String(i + 1).padStart(2, "0")}`;
      const urn = `urn:sallyport:risk:function:usual:${ref.toLowerCase()}`;
      this.add("reference-controls", ref, rootId, name, { ...shared, ref_id: ref, urn, category, csf_function });
    });
    THREATS.forEach((name, i) => {
      const ref = `THR-${String(i + 1).padStart(3, "0")}`;
      this.add("threats", ref, rootId, name, { ...shared, ref_id: ref, urn: `urn:sallyport:risk:threat:${i}` });
    });
    for (const [ref, name, score, exploited] of ADVISORIES) {
      this.add("security-advisories", ref, rootId, name, {
        ...shared,
        ref_id: ref,
        urn: null,
        library: null,
        source: "CVE",
        published_date: `${ref.slice(4, 8)}-06-01`,
        cvss_base_score: score,
        is_actively_exploited: exploited,
      });
    }
    this.add("risk-matrices", "5x5", rootId, "5x5 matrix", {
      ...shared,
      ref_id: "risk-matrix-5x5",
      urn: "urn:sallyport:risk:matrix:5x5",
      json_definition: JSON.stringify(RISK_MATRIX),
    });
    this.csf();
    this.iso();
  }

  private framework(key: string, ref: string, name: string, provider: string, more: Record<string, Json>): Row {
    const urn = `urn:sallyport:risk:framework:${key}`;
    const fields = { annotation: null, library: seededId(`library:${key}`), ref_id: ref, urn, provider, ...more };
    return this.add("frameworks", key, this.world.rootId, name, fields);
  }

  private node(
    framework: Row,
    ref: string,
    parent: string | null,
    name: string | null,
    text: string,
    leaf: boolean,
  ): void {
    const urn = (id: string) => `${framework.urn}:${id.toLowerCase()}`;
    const key = `${framework.ref_id}:${ref}`;
    const count = this.world.table("requirement-nodes").size;
    this.add("requirement-nodes", key, this.world.rootId, name, {
      description: text,
      annotation: null,
      urn: urn(ref),
      ref_id: ref,
      provider: framework.provider ?? null,
      parent_urn: parent === null ? null : urn(parent),
      order_id: count,
      assessable: leaf,
      framework: framework.id,
      reference_controls: leaf ? [seededId(`reference-controls:CTL.${String((count % 40) + 1).padStart(2, "0")}`)] : [],
    });
  }

  private csf(): void {
    const scale = { min_score: 1, max_score: 4, scores_definition: CSF_LEVELS };
    const framework = this.framework("nist-csf-2.0", "NIST-CSF-2.0", "NIST CSF v2.0", "NIST", {
      description: "NIST Cybersecurity Framework",
      ...scale,
    });
    for (const [fn, name, categories] of CSF) {
      this.node(framework, fn, null, name, `The ${name} function of the framework`, false);
      for (const [category, title, subcategories] of categories) {
        const ref = `${fn}.${category}`;
        this.node(framework, ref, fn, title, `${title} is in place`, false);
        for (const one of subcategories.split("|")) {
          this.node(framework, `${ref}-${one.slice(0, 2)}`, ref, null, one.slice(3), true);
        }
      }
    }
  }

  private iso(): void {
    const name = "International standard ISO/IEC 27001:2022";
    const framework = this.framework("iso27001-2022", "ISO/IEC 27001:2022", name, "ISO/IEC", {
      description: "Information security, cybersecurity and privacy protection",
      min_score: 0,
      max_score: 100,
      scores_definition: null,
    });
    for (const [ref, title, parts] of ISO) {
      this.node(framework, ref, null, title, title, false);
      parts.split("|").forEach((part, i) => {
        this.node(framework, `${ref}.${i + 1}`, ref, part, part, true);
      });
    }
  }

  private tenant(key: string, short: string, domains: readonly string[], index: number): void {
    const home = (i: number) => seededId(`folder:${domains[i % domains.length]}`);
    const top = home(0);
    SYSTEMS.forEach((system, i) => {
      this.add("assets", `${key}:${i}`, i < 2 ? top : home(i), `${short} ${system}`, {
        ref_id: `AST-${key.charAt(0)}-${i + 1}`,
        type: i % 4 === 0 ? "PR" : "SP",
        parent_assets: i % 4 === 0 ? [] : [seededId(`assets:${key}:${i - (i % 4)}`)],
      });
    });
    const asset = (i: number) => seededId(`assets:${key}:${i % SYSTEMS.length}`);
    this.evidence(key, short, home);
    this.controls(key, short, home, asset, index);
    this.add("perimeters", key, top, `${short} operations`, { ref_id: null });
    this.audits(key, short, home);
    this.risks(key, short, home, asset);
    this.attacks(key, short, home);
  }

  private controls(
    key: string,
    short: string,
    home: (i: number) => string,
    asset: (i: number) => string,
    index: number,
  ): void {
    const statuses = ["in_progress", "active", "to_do", "on_hold", "degraded", "active", "deprecated"];
    for (let i = 0; i < CONTROLS.length * 3; i++) {
      const [name, category, csf_function] = CONTROLS[i % CONTROLS.length]!;
      const turn = Math.floor(i / CONTROLS.length);
      // The first two lie in the tenant's own domain.
      const folder = i < 2 ? home(0) : home(i + turn);
      const status = statuses[i % statuses.length]!;
      const evidence = seededId(`evidences:${key}:${i % 60}`);
      const control = this.add("applied-controls", `${key}:${i}`, folder, `${short} ${NAMES[turn]!(name)}`, {
        ref_id: i % 2 === 0 ? `C-${key.charAt(0)}-${i + 1}` : null,
        status,
        category,
        csf_function,
        priority: (i % 4) + 1,
        effort: ["M", "S", "L", "XS", "XL", null][i % 6] ?? null,
        control_impact: i % 5 === 4 ? null : 4 - (i % 4),
        progress_field: status === "active" ? 100 : (i * 7) % 90,
        eta: i % 3 === 0 ? `2027-0${(i % 9) + 1}-15` : null,
        link: null,
        observation: null,
        reference_control: seededId(`reference-controls:CTL.${String((i % CONTROLS.length) + 1).padStart(2, "0")}`),
        owner: i % 5 === 0 ? [seededId(`actor:${["analyst", "manager", "admin"][index]}`)] : [],
        assets: [asset(i)],
        evidences: i < 60 ? [evidence] : [],
      });
      const proof = this.world.get("evidences", evidence)!;
      if (i < 60) proof.applied_controls = [control.id];
    }
  }

  private evidence(key: string, short: string, home: (i: number) => string): void {
    const kinds = ["screenshot", "export", "minutes", "report", "ticket"];
    const statuses = ["draft", "approved", "in_review", "approved", "expired", "missing", "rejected"];
    for (let i = 0; i < 60; i++) {
      const [name] = CONTROLS[i % CONTROLS.length]!;
      const title = `${short} ${name} ${kinds[(i + Math.floor(i / CONTROLS.length)) % kinds.length]}`;
      const evidence = this.add("evidences", `${key}:${i}`, i < 2 ? home(0) : home(i), title, {
        status: statuses[i % statuses.length]!,
        expiry_date: i % 4 === 1 ? "2027-06-30" : null,
        applied_controls: [],
      });
      if (i % 3 === 0) continue;
      const link = `https://wiki.${key}.example/evidence/${i}`;
      addVersion(evidence, { link }, this.world, seededId(`evidence-revisions:${key}:${i}`), this.now());
    }
  }

  private audits(key: string, short: string, home: (i: number) => string): void {
    this.audit(`${key}:csf`, home(0), `${short} CSF review`, "nist-csf-2.0", key, {});
    const shown = {
      score: { auditor: "edit", respondent: "hidden" },
      is_scored: { auditor: "edit", respondent: "hidden" },
    };
    const visible = { field_visibility: { ...(HIDDEN_SCORES as object), ...shown } };
    this.audit(`${key}:iso`, home(1), `${short} ISO 27001 internal audit`, "iso27001-2022", key, visible);
    if (key === "northwind") {
      this.audit(`${key}:locked`, home(0), `${short} CSF review of last year`, "nist-csf-2.0", key, {
        ...visible,
        is_locked: true,
        status: "done",
      });
    }
  }

  private audit(
    key: string,
    folder: string,
    name: string,
    framework: string,
    tenant: string,
    more: Record<string, Json>,
  ): void {
    const { min_score, max_score, scores_definition, id } = this.world.get(
      "frameworks",
      seededId(`frameworks:${framework}`),
    )!;
    const audit = this.add("compliance-assessments", key, folder, name, {
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
    for (const node of this.world.all("requirement-nodes")) {
      if (node.framework !== id) continue;
      const one = assess(
        audit,
        node,
        this.world,
        seededId(`requirement-assessments:${key}:${node.ref_id}`),
        this.now(),
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

  private risks(key: string, short: string, home: (i: number) => string, asset: (i: number) => string): void {
    const treatments = ["mitigate", "open", "accept", "transfer", "avoid", "mitigate", "cancelled"];
    for (let a = 0; a < 3; a++) {
      const names = [`${short} yearly risk review`, `${short} cloud risk review`, `${short} supplier risk review`];
      const assessment = this.add("risk-assessments", `${key}:${a}`, home(a), names[a]!, {
        perimeter: seededId(`perimeters:${key}`),
        risk_matrix: seededId("risk-matrices:5x5"),
        version: "1.0",
        status: ["planned", "in_progress", "done"][a]!,
        is_locked: false,
        ref_id: null,
      });
      RISKS.forEach((name, i) => {
        const probability = (i + a + 3) % 5;
        const impact = 4 - ((i * 2 + a) % 5);
        const residual = Math.max(0, probability - 2);
        this.add("risk-scenarios", `${key}:${a}:${i}`, assessment.folder, `${short} ${name}`, {
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
          applied_controls: [seededId(`applied-controls:${key}:${i * 2}`)],
          existing_applied_controls: [seededId(`applied-controls:${key}:${i * 2 + 1}`)],
        });
      });
    }
  }

  private attacks(key: string, short: string, home: (i: number) => string): void {
    for (let s = 0; s < 2; s++) {
      const name = `${short} EBIOS study ${2026 + s}`;
      const study = this.add("ebios-rm/studies", `${key}:${s}`, home(s), name, { ref_id: null, status: "in_progress" });
      ATTACKS.forEach(([path, origin, objective, mode], i) => {
        const of = (kind: string, str: string) => ({ str, id: seededId(`${kind}:${key}:${s}:${i}`) });
        const strategic = of("strategic", `${short} through ${path.toLowerCase()}`);
        this.add("ebios-rm/operational-scenarios", `${key}:${s}:${i}`, study.folder, `${strategic.str} - ${path}`, {
          ref_id: `AP.${String(i + 1).padStart(2, "0")}`,
          ebios_rm_study: study.id,
          attack_path: {
            ...of("path", path),
            name: path,
            description: null,
            strategic_scenario: strategic,
            form_display_name: `${path} (${strategic.str})`,
          },
          ro_to: {
            ...of("roto", `${origin} - ${objective}`),
            risk_origin: of("origin", origin),
            target_objective: objective,
          },
          strategic_scenario: { ...strategic, name: strategic.str, description: null },
          likelihood: (i + s) % 4,
          gravity: 3 - (i % 4),
          operating_modes_description: mode,
          is_selected: i % 4 !== 3,
        });
      });
    }
  }
}

/** How a control is named the second and third time a tenant has it. */
const NAMES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `${name} in production`,
  (name) => `${name} at suppliers`,
];
