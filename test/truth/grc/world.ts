import type { Row } from "../frame/pages.js";
import type { RealPlatform } from "./platform.js";

// What the truth tests look at: made over the platform's own API by its
// administrator, new names at each run. It holds what tools were wrong about:
// ties and gaps in what lists are sorted by, objects above and beside the
// tenants, an audit of a supplier, one that covers a part of its framework, and
// people with every kind of right.

/** The people, by name: what each may do is said in {@link makeWorld}. */
export const PEOPLE = [
  "administrator",
  "analyst",
  "reader",
  "granted",
  "manager",
  "both",
  "respondent",
  "auditee",
  "overseer",
  "tester",
  "outsider",
  "nobody",
] as const;

/** Those with a role in the first tenant, and in it alone. */
export const INSIDE = ["analyst", "reader", "granted", "respondent", "auditee", "tester"] as const;

/** What was made. */
export interface World {
  /** Distinguishes this run. */
  readonly run: string;
  readonly emails: Readonly<Record<string, string>>;
  /** Ids by a name of ours. */
  readonly ids: Record<string, string>;
  /** Takes the tenants away with all they hold. */
  remove(): Promise<void>;
}

const LIBRARIES = [
  // Small ones: the platform writes 8 KB for each requirement that it lists.
  "gdpr-checklist",
  "checklist-dossier-homologation",
  "google-saif",
  "risk-matrix-5x5-iso27005",
  "risk-matrix-4x4-ebios-rm",
  "intuitem-common-catalog",
];

/** A group of the framework that has some: what audits of a part of it cover. */
export const GROUP = "SI-OB";

/** Makes the world. */
export async function makeWorld(platform: RealPlatform, admin: string): Promise<World> {
  const run = Date.now().toString(36).slice(-6);
  const emails: Record<string, string> = { administrator: admin };
  for (const name of PEOPLE) emails[name] ??= `${name}-${run}@truth.test`;
  const maker = new Maker(platform, admin, run, emails);
  await maker.tenants();
  await maker.libraries();
  await maker.people();
  await maker.controls();
  await maker.audits();
  await maker.supplier();
  await maker.files();
  await maker.risks();
  await maker.attacks();
  await maker.linkedAttack();
  await maker.assets();
  await maker.losses();
  await maker.shared();
  return { run, emails, ids: maker.ids, remove: () => maker.remove() };
}

class Maker {
  readonly ids: Record<string, string> = {};

  constructor(
    private readonly platform: RealPlatform,
    private readonly admin: string,
    private readonly run: string,
    private readonly emails: Record<string, string>,
  ) {}

  async tenants(): Promise<void> {
    const me = await this.platform.need(this.admin, "GET", "/api/iam/current-user/");
    this.ids.root = me.root_folder_id;
    await this.put("/api/settings/feature-flags/", { tprm: true, ebiosrm: true, quantitative_risk_studies: true });
    const groups = { create_iam_groups: true };
    await this.make("alpha", "/api/folders/", { name: this.named("Alpha"), ...groups });
    await this.make("beta", "/api/folders/", { name: this.named("Beta"), description: "Another tenant", ...groups });
    await this.make("east", "/api/folders/", { name: this.named("East"), parent_folder: this.ids.alpha });
    await this.make("shop", "/api/folders/", { name: this.named("Shop"), parent_folder: this.ids.alpha, ...groups });
  }

  async libraries(): Promise<void> {
    const stored = await this.platform.list(this.admin, "/api/stored-libraries/");
    for (const name of LIBRARIES) {
      const library = stored.find((one) => one.urn === `urn:intuitem:risk:library:${name}`);
      if (library?.is_loaded !== false) continue;
      // Another file of tests may have loaded it meanwhile, which is refused.
      await this.platform.call(this.admin, "POST", `/api/stored-libraries/${library.id}/import/`, {});
    }
    for (const framework of await this.platform.list(this.admin, "/api/frameworks/")) {
      if (/gdpr-checklist/.test(String(framework.urn))) this.ids.plain = framework.id;
      if (/checklist-dossier-homologation/.test(String(framework.urn))) this.ids.grouped = framework.id;
      // Its requirements are numbered, and those of the others are not.
      if (/google-saif/.test(String(framework.urn))) this.ids.numbered = framework.id;
    }
    for (const matrix of await this.platform.list(this.admin, "/api/risk-matrices/")) {
      this.ids[/5x5/.test(String(matrix.name)) ? "matrix" : "ebiosMatrix"] = matrix.id;
    }
  }

  /**
   * An analyst, a reader, an auditee and a technical tester of the first tenant, a reader of one domain of it, a
   * manager of the other, one of both, a reader of everything, and one with no role.
   */
  async people(): Promise<void> {
    const groups = await this.platform.list(this.admin, "/api/user-groups/");
    const group = (folder: string, role: string) => {
      const of = (one: Row) => (one.folder as { id?: string } | null)?.id === this.ids[folder];
      const found = groups.find((one) => of(one) && new RegExp(role, "i").test(String(one.name)));
      if (found === undefined) throw new Error(`the platform has no group of ${role} in ${folder}`);
      return found.id;
    };
    const roles: Readonly<Record<string, readonly string[]>> = {
      analyst: [group("alpha", "Analyst|BI-UG-ANA")],
      reader: [group("alpha", "Reader|BI-UG-AUD")],
      granted: [group("shop", "Reader|BI-UG-AUD")],
      auditee: [group("alpha", "- Respondent|BI-UG-ADE")],
      manager: [group("beta", "Domain manager|BI-UG-DMA")],
      overseer: [group("root", "Reader|BI-UG-GAD")],
      tester: [group("alpha", "Tester|BI-UG-TST")],
      both: [group("alpha", "Analyst|BI-UG-ANA"), group("beta", "Analyst|BI-UG-ANA")],
      outsider: [],
    };
    for (const [name, user_groups] of Object.entries(roles)) {
      const email = this.emails[name];
      const id = await this.make(name, "/api/users/", { email, first_name: name, last_name: this.run });
      if (user_groups.length > 0) await this.patch(`/api/users/${id}/`, { user_groups });
      const me = await this.platform.need(email!, "GET", "/api/iam/current-user/");
      this.ids[`${name}Actor`] = me.actor_id;
    }
  }

  /** Controls with one name, one date and one priority in several domains, and some without; evidence likewise. */
  async controls(): Promise<void> {
    const statuses = ["to_do", "in_progress", "active", "on_hold"];
    const places = ["alpha", "east", "shop", "beta"];
    for (let i = 0; i < 24; i++) {
      const place = places[i % 4]!;
      await this.make(`control${i}`, "/api/applied-controls/", {
        name: i < 12 ? this.named(`${place === "beta" ? "Beta " : ""}same`) : this.named(`${place} control ${i}`),
        ref_id: `C-${this.run}-${i}`,
        folder: this.ids[place],
        status: statuses[i % 3],
        category: i % 3 === 0 ? "technical" : "process",
        csf_function: "protect",
        ...(i % 2 === 0 && { eta: "2027-03-31" }),
        ...(i % 3 !== 0 && { priority: (i % 2) + 1 }),
        ...(i % 5 === 0 && { effort: "XS", control_impact: 5, link: `https://control.example/${this.run}/${i}` }),
      });
    }
    for (let i = 0; i < 12; i++) {
      const place = places[i % 4]!;
      await this.make(`evidence${i}`, "/api/evidences/", {
        name: this.named(`${place} proof ${i}`),
        folder: this.ids[place],
        status: ["draft", "missing", "in_review", "approved", "rejected", "expired"][i % 6],
        ...(i % 2 === 0 && { link: `https://proof.example/${this.run}/${i}` }),
        applied_controls: [this.ids[`control${i}`]],
      });
    }
    const file = `/api/evidences/${this.ids.evidence1}/upload/`;
    await this.platform.upload(this.admin, file, "Übersicht 2026 (final).txt", "Everything is in order.");
    // What a reader of one domain may see, linked to what that reader may not.
    await this.patch(`/api/evidences/${this.ids.evidence2}/`, {
      applied_controls: [this.ids.control2, this.ids.control0],
    });
  }

  /** Audits: scores hidden and shown, a part of a framework, one locked, one of the other tenant, one for the auditee. */
  async audits(): Promise<void> {
    for (const place of ["alpha", "beta"]) {
      const name = this.named(`${place} perimeter`);
      await this.make(`${place}Perimeter`, "/api/perimeters/", { name, folder: this.ids[place] });
    }
    const audit = (key: string, place: string, framework: string, more: object = {}) =>
      this.make(key, "/api/compliance-assessments/", {
        name: this.named(`${place} ${key}`),
        framework: this.ids[framework],
        folder: this.ids[place],
        version: "1.0",
        status: "in_progress",
        ...more,
      });
    await audit("hidden", "alpha", "plain", { perimeter: this.ids.alphaPerimeter });
    await audit("shown", "shop", "plain");
    const edit = { auditor: "edit", respondent: "hidden" };
    await this.patch(`/api/compliance-assessments/${this.ids.shown}/`, {
      field_visibility: { score: edit, is_scored: edit },
    });
    await audit("part", "alpha", "grouped", { selected_implementation_groups: [GROUP] });
    await audit("other", "beta", "plain", { perimeter: this.ids.betaPerimeter });
    await this.closeControls("part");
    for (const key of ["hidden", "shown", "part", "other"]) {
      const rows = await this.requirements(key);
      rows.slice(0, 4).forEach(({ id }, i) => {
        this.ids[`${key}${i}`] = id;
      });
    }
    // One control answers a requirement inside the chosen groups and one outside.
    const all = await this.requirements("part");
    const inside = (one: Row) => JSON.stringify((one.requirement as Row).implementation_groups).includes(GROUP);
    this.ids.partInside = all.find(inside)!.id;
    this.ids.partOutside = all.find((one) => !inside(one))!.id;
    const answers: readonly (readonly [string, number])[] = [
      ["hidden0", 0],
      ["hidden1", 0],
      ["shown0", 2],
      ["shown1", 0],
      ["partInside", 4],
      ["partOutside", 4],
      ["other0", 3],
    ];
    for (const [requirement, control] of answers) {
      const path = `/api/requirement-assessments/${this.ids[requirement]}/`;
      await this.patch(path, { applied_controls: [this.ids[`control${control}`]], result: "partially_compliant" });
    }
    // Proof of one requirement that the auditee is given, and of one that is not.
    for (const key of ["hidden0", "hidden1"]) {
      await this.patch(`/api/requirement-assessments/${this.ids[key]}/`, { evidences: [this.ids.evidence0] });
    }
    await this.make("assignment", "/api/requirement-assignments/", {
      folder: this.ids.alpha,
      compliance_assessment: this.ids.hidden,
      actor: [this.ids.auditeeActor],
      requirement_assessments: [this.ids.hidden0, this.ids.hidden2],
      status: "in_progress",
    });
  }

  /** An audit of a supplier, which lies in a folder of its own kind, with the supplier's own person. */
  async supplier(): Promise<void> {
    const email = this.emails.respondent;
    await this.make("entity", "/api/entities/", { name: this.named("Supplier"), folder: this.ids.alpha });
    await this.make("representative", "/api/representatives/", {
      email,
      first_name: "respondent",
      last_name: this.run,
      entity: this.ids.entity,
      create_user: true,
    });
    const users = await this.platform.list(this.admin, "/api/users/");
    this.ids.respondent = users.find((user) => user.email === email)!.id;
    const made = await this.post("/api/entity-assessments/", {
      name: this.named("Supplier review"),
      entity: this.ids.entity,
      perimeter: this.ids.alphaPerimeter,
      folder: this.ids.alpha,
      create_audit: true,
      framework: this.ids.grouped,
      selected_implementation_groups: [GROUP],
      representatives: [this.ids.respondent],
    });
    this.ids.supplierReview = made.id;
    const read = await this.platform.need(this.admin, "GET", `/api/entity-assessments/${made.id}/`);
    this.ids.supplierAudit = read.compliance_assessment.id;
    const audit = await this.platform.need(this.admin, "GET", `/api/compliance-assessments/${this.ids.supplierAudit}/`);
    this.ids.enclave = audit.folder.id;
    await this.closeControls("supplierAudit");
    const rows = await this.requirements("supplierAudit");
    this.ids.supplier0 = rows[0]!.id;
  }

  /** Evidence with files: letters of several bytes, and bytes that are no text. */
  async files(): Promise<void> {
    const files = [
      ["shopFile", "shop", "Scan 1.PNG", new Uint8Array(20_000).map((_, i) => i % 251)],
      ["betaFile", "beta", "Zürich.md", "Geprüft: 😀 läuft. ".repeat(40)],
      ["enclaveFile", "enclave", "Answer.csv", "a;b\n1;2\n"],
    ] as const;
    for (const [key, place, name, bytes] of files) {
      await this.make(key, "/api/evidences/", { name: this.named(`${place} file`), folder: this.ids[place] });
      await this.platform.upload(this.admin, `/api/evidences/${this.ids[key]}/upload/`, name, bytes);
    }
  }

  /** Risks of assessments with a perimeter and without one; a control that is planned against one and in place against another. */
  async risks(): Promise<void> {
    const assess = (key: string, place: string, more: object = {}) =>
      this.make(key, "/api/risk-assessments/", {
        name: this.named(`${place} ${key}`),
        risk_matrix: this.ids.matrix,
        folder: this.ids[place],
        version: "1.0",
        ...more,
      });
    await assess("within", "alpha", { perimeter: this.ids.alphaPerimeter });
    await assess("without", "shop");
    await assess("eastern", "east");
    await assess("foreign", "beta", { perimeter: this.ids.betaPerimeter });
    // By turns, so that the newest of one assessment lie between those of another.
    for (let i = 0; i < 12; i++) {
      const key = ["within", "without", "eastern", "foreign"][i % 4]!;
      await this.make(`risk${i}`, "/api/risk-scenarios/", {
        name: this.named(`${key} risk ${i}`),
        risk_assessment: this.ids[key],
      });
    }
    const rated = {
      inherent_proba: 4,
      inherent_impact: 4,
      current_proba: 3,
      current_impact: 4,
      residual_proba: 1,
      residual_impact: 2,
    };
    // Some of the newest, which lists begin with.
    for (const i of [8, 10, 11]) await this.patch(`/api/risk-scenarios/${this.ids[`risk${i}`]}/`, rated);
    await this.patch(`/api/risk-scenarios/${this.ids.risk0}/`, {
      ...rated,
      treatment: "mitigate",
      applied_controls: [this.ids.control0],
    });
    await this.patch(`/api/risk-scenarios/${this.ids.risk1}/`, {
      ...rated,
      treatment: "accept",
      existing_applied_controls: [this.ids.control0, this.ids.control2],
    });
  }

  /** Attack outcomes of several studies, made by turns. */
  async attacks(): Promise<void> {
    const [origin] = await this.platform.list(this.admin, "/api/terminologies/", {
      field_path: "ro_to.risk_origin",
      limit: 1,
    });
    const studies = [
      ["studyA", "alpha"],
      ["studyB", "shop"],
      ["studyC", "beta"],
    ] as const;
    for (const [key, place] of studies) {
      const folder = this.ids[place];
      const name = this.named(`${place} ${key}`);
      await this.make(key, "/api/ebios-rm/studies/", { name, folder, risk_matrix: this.ids.ebiosMatrix });
      const study = { ebios_rm_study: this.ids[key], folder };
      // The second study says of nothing how grave it is.
      const event = { ...study, name: this.named(`${key} feared event`), gravity: 2, is_selected: true };
      const feared = key === "studyB" ? [] : [await this.make(`${key}Feared`, "/api/ebios-rm/feared-events/", event)];
      const roto = {
        ...study,
        risk_origin: origin!.id,
        target_objective: this.named(`${key} objective`),
        feared_events: feared,
      };
      await this.make(`${key}Roto`, "/api/ebios-rm/ro-to/", { ...roto, is_selected: true });
      await this.make(`${key}Strategic`, "/api/ebios-rm/strategic-scenarios/", {
        ...study,
        name: this.named(`${key} strategic`),
        ro_to_couple: this.ids[`${key}Roto`],
      });
    }
    for (let i = 0; i < 9; i++) {
      const [key, place] = studies[i % 3]!;
      const study = { ebios_rm_study: this.ids[key], folder: this.ids[place] };
      const path = await this.make(`path${i}`, "/api/ebios-rm/attack-paths/", {
        ...study,
        name: this.named(`${key} path ${i}`),
        strategic_scenario: this.ids[`${key}Strategic`],
        is_selected: true,
      });
      await this.make(`attack${i}`, "/api/ebios-rm/operational-scenarios/", {
        ...study,
        attack_path: path,
        likelihood: i % 3,
        operating_modes_description: "Stolen account",
        is_selected: true,
      });
    }
  }

  /** An outcome of the first tenant by a path of the other's study, where the platform takes it. */
  async linkedAttack(): Promise<void> {
    const study = { ebios_rm_study: this.ids.studyC, folder: this.ids.beta };
    const attack_path = await this.make("pathLinked", "/api/ebios-rm/attack-paths/", {
      ...study,
      name: this.named("studyC path linked"),
      strategic_scenario: this.ids.studyCStrategic,
      is_selected: true,
    });
    const own = { ebios_rm_study: this.ids.studyA, folder: this.ids.alpha, attack_path, likelihood: 1 };
    await this.make("attackLinked", "/api/ebios-rm/operational-scenarios/", {
      ...own,
      operating_modes_description: "By somebody else's path",
      is_selected: true,
    });
  }

  /** Business assets and what carries them, of several domains; one carries something that not everybody sees. */
  async assets(): Promise<void> {
    const places = ["alpha", "east", "shop", "beta"];
    for (let i = 0; i < 8; i++) {
      const place = places[i % 4]!;
      await this.make(`asset${i}`, "/api/assets/", {
        name: this.named(`${place} asset ${i}`),
        folder: this.ids[place],
        type: i < 4 ? "PR" : "SP",
        ...(i >= 4 && { parent_assets: [this.ids[`asset${i - 4}`]] }),
        ...(i === 0 && { description: "What it lives by", ref_id: `A-${this.run}` }),
      });
    }
    await this.patch(`/api/assets/${this.ids.asset6}/`, { parent_assets: [this.ids.asset2, this.ids.asset1] });
    await this.make("betaEntity", "/api/entities/", { name: this.named("Beta partner"), folder: this.ids.beta });
  }

  /** Studies that price risks: one with a scenario that is simulated and one that is not, one empty, one of the other tenant. */
  async losses(): Promise<void> {
    const studies = [
      ["loss", "alpha"],
      ["lossEmpty", "shop"],
      ["lossOther", "beta"],
    ] as const;
    for (const [key, place] of studies) {
      const name = this.named(`${place} ${key}`);
      const threshold = key === "loss" ? { loss_threshold: 50_000 } : {};
      await this.make(key, "/api/crq/quantitative-risk-studies/", { name, folder: this.ids[place], ...threshold });
    }
    for (const [i, study] of ["loss", "loss", "lossOther", "loss"].entries()) {
      const body = { name: this.named(`${study} scenario ${i}`), quantitative_risk_study: this.ids[study] };
      const hit = i === 0 ? [this.ids.asset0, this.ids.asset3] : i === 3 ? [this.ids.asset2] : undefined;
      const more = hit === undefined ? {} : { assets: hit, priority: 1, status: "open" };
      await this.make(`priced${i}`, "/api/crq/quantitative-risk-scenarios/", { ...body, ...more });
    }
    for (const scenario of ["priced0", "priced3"]) {
      const [hypothesis] = await this.platform.list(this.admin, "/api/crq/quantitative-risk-hypotheses/", {
        quantitative_risk_scenario: this.ids[scenario]!,
      });
      const impact = { distribution: "LOGNORMAL-CI90", lb: 10_000, ub: 200_000 };
      const path = `/api/crq/quantitative-risk-hypotheses/${hypothesis!.id}/`;
      await this.patch(path, { probability: 0.4, impact });
      await this.platform.call(this.admin, "GET", `${path}run-simulation/`);
    }
    // The figures of the third are not those of its inputs any more.
    const [changed] = await this.platform.list(this.admin, "/api/crq/quantitative-risk-hypotheses/", {
      quantitative_risk_scenario: this.ids.priced3!,
    });
    await this.patch(`/api/crq/quantitative-risk-hypotheses/${changed!.id}/`, { probability: 0.7 });
    // What the first would cost with a treatment.
    const treated = { risk_stage: "residual", is_selected: true, probability: 0.1 };
    const residual = await this.make("treated0", "/api/crq/quantitative-risk-hypotheses/", {
      ...treated,
      name: this.named("treated"),
      quantitative_risk_scenario: this.ids.priced0,
      impact: { distribution: "LOGNORMAL-CI90", lb: 5_000, ub: 50_000 },
    });
    await this.platform.call(this.admin, "GET", `/api/crq/quantitative-risk-hypotheses/${residual}/run-simulation/`);
  }

  /** What lies above all tenants, where everybody with a role may read it. */
  async shared(): Promise<void> {
    const folder = this.ids.root;
    await this.make("rootControl", "/api/applied-controls/", { name: this.named("Shared control"), folder });
    await this.make("rootEvidence", "/api/evidences/", { name: this.named("Shared proof"), folder });
    await this.make("rootAssessment", "/api/risk-assessments/", {
      name: this.named("Shared assessment"),
      risk_matrix: this.ids.matrix,
      folder,
      version: "1.0",
    });
    await this.make("rootRisk", "/api/risk-scenarios/", {
      name: this.named("Shared risk"),
      risk_assessment: this.ids.rootAssessment,
    });
  }

  async remove(): Promise<void> {
    const gone = [
      ["/api/risk-scenarios/", "rootRisk"],
      ["/api/risk-assessments/", "rootAssessment"],
      ["/api/evidences/", "rootEvidence"],
      ["/api/applied-controls/", "rootControl"],
      ["/api/folders/", "alpha"],
      ["/api/folders/", "beta"],
      ...[
        "analyst",
        "reader",
        "granted",
        "auditee",
        "manager",
        "both",
        "overseer",
        "tester",
        "outsider",
        "respondent",
        "leaver",
      ].map((name) => ["/api/users/", name] as const),
    ] as const;
    for (const [path, key] of gone) await this.platform.call(this.admin, "DELETE", `${path}${this.ids[key]}/`);
  }

  /** Who answers an audit may read which controls answer its requirements, and not change it. */
  private async closeControls(audit: string): Promise<void> {
    const applied_controls = { auditor: "edit", respondent: "read" };
    await this.patch(`/api/compliance-assessments/${this.ids[audit]}/`, { field_visibility: { applied_controls } });
  }

  private requirements(audit: string): Promise<Row[]> {
    return this.platform.list(this.admin, "/api/requirement-assessments/", {
      compliance_assessment: this.ids[audit]!,
      requirement__assessable: true,
    });
  }

  private named(name: string): string {
    return `${name} ${this.run}`;
  }

  private async make(key: string, path: string, body: object): Promise<string> {
    const { id } = await this.post(path, body);
    this.ids[key] = id;
    return id;
  }

  // biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
  private post(path: string, body: object): Promise<any> {
    return this.platform.need(this.admin, "POST", path, body);
  }

  private async patch(path: string, body: object): Promise<void> {
    await this.platform.need(this.admin, "PATCH", path, body);
  }

  private async put(path: string, body: object): Promise<void> {
    await this.platform.need(this.admin, "PUT", path, body);
  }
}
