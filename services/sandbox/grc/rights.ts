import { PLAIN_KINDS } from "./kinds/table.js";
import { idsIn, type Role, type Row, type User, type World } from "./world.js";

const LIBRARY = [
  "framework",
  "loadedlibrary",
  "referencecontrol",
  "requirementnode",
  "riskmatrix",
  "securityadvisory",
  "threat",
];
const CONTENT = [
  "actor",
  "appliedcontrol",
  "asset",
  "attackpath",
  "complianceassessment",
  "ebiosrmstudy",
  "evidence",
  "evidencerevision",
  "operationalscenario",
  "perimeter",
  "quantitativeriskhypothesis",
  "quantitativeriskscenario",
  "quantitativeriskstudy",
  "requirementassessment",
  "riskassessment",
  "riskscenario",
  ...PLAIN_KINDS.map(({ model }) => model.toLowerCase()),
];

const named = (verbs: readonly string[], models: readonly string[]) =>
  models.flatMap((model) => verbs.map((verb) => `${verb}_${model}`));

/** Without it an audit is seen as by those who answer it. */
const FULL_VIEW = "view_compliance_assessment_full";
const VIEW = [...named(["view"], [...LIBRARY, ...CONTENT, "folder"]), FULL_VIEW];

function role(code: string, group: string, codenames: readonly string[]): Role {
  return { code, group, codenames: new Set(codenames) };
}

/** Sees everything of its folders. */
export const READER = role("BI-RL-AUD", "BI-UG-AUD", VIEW);
/** Adds, changes and deletes content. */
export const ANALYST = role("BI-RL-ANA", "BI-UG-ANA", [...VIEW, ...named(["add", "change", "delete"], CONTENT)]);
/** A role of the instance's own: an analyst who deletes nothing. */
export const CAREFUL_ANALYST = role("Analyst without deletion", "Analysts", [
  ...VIEW,
  ...named(["add", "change"], CONTENT),
]);
/** An analyst who manages folders as well. */
export const MANAGER = role("BI-RL-DMA", "BI-UG-DMA", [
  ...ANALYST.codenames,
  ...named(["add", "change", "delete"], ["folder"]),
]);
/** A supplier's person, who answers an audit of the supplier. */
export const RESPONDENT = role("BI-RL-TPR", "BI-UG-TPR", [
  ...named(["view", "change"], ["requirementassessment", "evidence", "evidencerevision"]),
  ...named(["add", "delete"], ["evidence", "evidencerevision"]),
  "view_complianceassessment",
  "view_folder",
]);
/** Who answers the audits of a domain. */
export const AUDITEE = role("BI-RL-ADE", "BI-UG-ADE", [
  ...RESPONDENT.codenames,
  ...named(["view", "add", "change", "delete"], ["appliedcontrol"]),
  "view_framework",
]);
/** Who tests systems: sees what is tested, and by which frameworks. */
export const TESTER = role(
  "BI-RL-TST",
  "BI-UG-TST",
  named(["view"], ["asset", "folder", "framework", "perimeter", "requirementnode"]),
);
/** Who sets what audits find, with its proof and what follows from it: nothing is deleted, and no asset written. */
export const ASSESSOR = role("Assessor", "Assessors", [
  ...named(
    ["view"],
    [
      ...["appliedcontrol", "complianceassessment", "evidence", "folder", "framework", "requirementassessment"],
      ...["requirementnode", "riskassessment", "riskmatrix", "riskscenario"],
    ],
  ),
  FULL_VIEW,
  ...named(["add"], ["evidence", "evidencerevision", "riskscenario"]),
  "change_requirementassessment",
]);
/** Who follows attacks to what they cost: reads, and adds risks. */
export const RISK_ANALYST = role("Risk analyst", "Risk analysts", [
  ...named(
    ["view"],
    [
      ...["asset", "attackpath", "ebiosrmstudy", "folder", "operationalscenario"],
      ...["quantitativeriskscenario", "quantitativeriskstudy", "riskassessment", "riskmatrix", "riskscenario"],
    ],
  ),
  "add_riskscenario",
]);
/** A manager who manages libraries as well. */
export const ADMINISTRATOR = role("BI-RL-ADM", "BI-UG-ADM", [
  ...MANAGER.codenames,
  ...named(["add", "change", "delete"], LIBRARY),
]);

/** Whether a user may do something to what lies in a folder. */
export function may(world: World, user: User, codename: string, folder: string): boolean {
  const line = world.lineOf(folder);
  return user.grants.some((grant) => grant.role.codenames.has(codename) && line.includes(grant.folder));
}

/** Whether a user sees the audits of a folder as one who answers them: some fields are closed then. */
export function isRespondent(world: World, user: User, folder: string): boolean {
  return may(world, user, "view_complianceassessment", folder) && !may(world, user, FULL_VIEW, folder);
}

/** What is published from the first, wherever it lies. */
const PUBLISHED: ReadonlySet<string> = new Set([
  ...LIBRARY,
  ...["actor", "appliedcontrol", "asset", "evidence", "evidencerevision", "folder"],
  ...["incident", "securityexception", "vulnerability"],
]);

/** What is published where it lies in the root: the platform's models with PublishInRootFolderMixin. */
const PUBLISHED_IN_ROOT: ReadonlySet<string> = new Set([
  ...["entity", "organisationissue", "organisationobjective", "riskacceptance"],
]);

/** Whether a user sees an object: by a role on its folder, or on one below it for what is published. */
export function sees(world: World, user: User, model: string, row: Row): boolean {
  const codename = `view_${model}`;
  const housed = model === "folder" ? row.id : row.folder;
  if (may(world, user, codename, housed)) return true;
  const isPublished = PUBLISHED.has(model) || (PUBLISHED_IN_ROOT.has(model) && housed === world.rootId);
  return (
    isPublished &&
    user.grants.some(({ role, folder }) => role.codenames.has(codename) && inherits(world, folder, housed))
  );
}

/** Whether what is published in one folder is seen by who has a role in another: those above it, but for an enclave. */
function inherits(world: World, folder: string, from: string): boolean {
  return world.get("folders", folder)?.content_type !== "EN" && world.lineOf(folder).includes(from);
}

/** What those who answer audits reach only where it was given to them, though it is named to them elsewhere. */
const ASSIGNED = ["complianceassessment", "requirementassessment"];

/** Whether a user may list and read an object. */
export function reaches(world: World, user: User, model: string, row: Row): boolean {
  if (!sees(world, user, model, row)) return false;
  if (!ASSIGNED.includes(model) || !isRespondent(world, user, row.folder)) return true;
  return idsIn(row, "assigned_to").includes(user.actorId);
}

/** The root is open to everybody with a role, and listed for administrators only. */
export function lists(world: World, user: User, model: string, row: Row): boolean {
  if (model === "folder" && row.id === world.rootId) return may(world, user, "view_folder", world.rootId);
  return reaches(world, user, model, row);
}

/** What a user may do, folder by folder, as the platform tells it of itself. */
export function permissionsOf(world: World, user: User): Record<string, string[]> {
  const permissions: Record<string, string[]> = {};
  for (const folder of world.all("folders")) {
    const line = world.lineOf(folder.id);
    const codenames = user.grants.filter((g) => line.includes(g.folder)).flatMap((g) => [...g.role.codenames]);
    if (codenames.length > 0) permissions[folder.id] = [...new Set(codenames)];
  }
  return permissions;
}
