import type { RightWords, RoleWords } from "./words.js";

const VERBS: Readonly<Record<string, string>> = { view: "View", add: "Add", change: "Change", delete: "Delete" };

/** What rights are about: the model's codename, the headings of its group, its name in the labels, and what tools do to it. */
const MODELS: readonly (readonly [model: string, under: readonly string[], noun: string, verbs: readonly string[]])[] =
  [
    ["appliedcontrol", ["Core", "Applied control"], "applied control", ["view", "add", "change", "delete"]],
    ["asset", ["Core", "Asset"], "asset", ["view", "add", "change", "delete"]],
    ["complianceassessment", ["Core", "Audit"], "audit", ["view"]],
    ["evidence", ["Core", "Evidence"], "evidence", ["view", "add", "change", "delete"]],
    ["framework", ["Core", "Framework"], "framework", ["view"]],
    ["referencecontrol", ["Core", "Reference control"], "reference control", ["view"]],
    ["requirementassessment", ["Core", "Requirement assessment"], "requirement assessment", ["view", "change"]],
    ["requirementnode", ["Core", "Requirement node"], "requirement node", ["view"]],
    ["riskassessment", ["Core", "Risk assessment"], "risk assessment", ["view"]],
    ["riskscenario", ["Core", "Risk scenario"], "risk scenario", ["view", "add", "change", "delete"]],
    ["ebiosrmstudy", ["EBIOS RM", "EbiosRMStudy"], "EBIOS RM study", ["view"]],
    ["operationalscenario", ["EBIOS RM", "Operational scenario"], "operational scenario", ["view"]],
    ["vulnerability", ["Core", "Vulnerability"], "vulnerability", ["view"]],
    ["entity", ["Third Party Risk Management", "Entity"], "entity", ["view"]],
    ["folder", ["IAM", "Domain"], "domain", ["view"]],
  ];

/** Rights whose label is not the verb and the model's name: some have no English text, so their key is shown. */
const OTHERS: Readonly<Record<string, RightWords>> = {
  view_compliance_assessment_full: { label: "View audit (the second box of this name)", under: ["Core", "Audit"] },
  add_evidencerevision: { label: "Add Revision", under: ["Core", "Evidence Revision"] },
  // Roles are not offered permissions of its app, sec_intel.
  view_securityadvisory: { under: [] },
  view_quantitativeriskstudy: { label: "viewQuantitativeRiskStudy", under: ["CRQ", "CRQ Study"] },
  view_quantitativeriskscenario: { label: "viewQuantitativeRiskScenario", under: ["CRQ", "CRQ scenario"] },
  view_quantitativeriskhypothesis: { label: "viewQuantitativeRiskHypothesis", under: ["CRQ", "CRQ Hypothesis"] },
};

const plain = MODELS.flatMap(([model, under, noun, verbs]) =>
  verbs.map((verb): [string, RightWords] => [`${verb}_${model}`, { label: `${VERBS[verb]} ${noun}`, under }]),
);

const headingOf = ([, { under }]: readonly [string, RightWords]): string => under.join();
const byHeading = (a: readonly [string, RightWords], b: readonly [string, RightWords]): number =>
  headingOf(a).localeCompare(headingOf(b), "en");

/** CISO Assistant: the permissions of Django that its roles hold. None implies another. */
export const GRC_ROLE: RoleWords = {
  release: "CISO Assistant f990d7b1 (August 2026)",
  rights: Object.fromEntries([...plain, ...Object.entries(OTHERS)].toSorted(byHeading)),
  meets: {
    attach_evidence: [
      "change_appliedcontrol",
      "view_appliedcontrol",
      "change_requirementassessment",
      "view_requirementassessment",
    ],
    // Without the second, the platform shows audits as to a respondent: only those assigned to the person.
    view_complianceassessment: ["view_complianceassessment", "view_compliance_assessment_full"],
    // Without the second, nobody is told which losses are of other inputs than those of now.
    view_quantitativeriskscenario: ["view_quantitativeriskscenario", "view_quantitativeriskhypothesis"],
    // A new link is a new version of the evidence, and so is a file if there is one.
    change_evidence: ["change_evidence", "add_evidencerevision"],
  },
  always: ["view_folder"],
  builtIn: [
    { name: "Reader", has: (right) => right.startsWith("view_") },
    { name: "Analyst", has: () => true },
  ],
  steps: [
    "Enterprise edition: under **Organization**, open **Roles** and add a role. Give it a name and save it. Then edit the role: under **Permissions**, tick the boxes of the role and save.",
    "CISO Assistant makes a user group for the role in each domain, named after both, and adds **View domain** by itself.",
    "Community edition: you cannot create roles. Use the built-in role that has all of these rights.",
    "Under **Organization**, open **Users** and edit a person. Under **User groups**, choose the group of the role in each domain that the person works in.",
  ],
  notes: [
    "The role holds in the domain of the group and in the domains below it. People have as many tenants as they have roles in domains below the root.",
    "A right without a box cannot be given to a role that you create: give these people the built-in role.",
    "A role that was given acts within 20 seconds.",
  ],
};
