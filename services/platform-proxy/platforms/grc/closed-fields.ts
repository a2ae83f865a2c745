import type { Platform } from "../../platform.js";
import type { UpstreamRequirementAssessment } from "./requirement-assessment.js";
import { mayIn } from "./tenancy.js";

/** What of a requirement assessment can be written: the arguments of the tool, and the platform's fields that each writes. */
const FIELDS = {
  result: ["result"],
  status: ["status"],
  score: ["score", "is_scored"],
  observation: ["observation"],
} as const;

/** What is closed to respondents where an audit says nothing of it. */
const CLOSED_BY_DEFAULT: readonly string[] = ["status", "score", "is_scored"];

/**
 * The fields that an audit closes to the caller. The platform drops them from what a respondent writes, without a word;
 * who audits may write what the audit does not show as well.
 */
export async function closedTo(platform: Platform, upstream: UpstreamRequirementAssessment): Promise<string[]> {
  const { folder, compliance_assessment: audit } = upstream;
  // A respondent is who may see audits, and not all of them.
  const may = (codename: string) => mayIn(platform, folder.id ?? "", codename);
  if (!(await may("view_complianceassessment")) || (await may("view_compliance_assessment_full"))) return [];
  const isOpen = (field: string) => {
    const said = audit.field_visibility?.[field];
    return said === undefined ? !CLOSED_BY_DEFAULT.includes(field) : (said.respondent ?? "edit") === "edit";
  };
  return Object.entries(FIELDS).flatMap(([argument, fields]) => (fields.every(isOpen) ? [] : [argument]));
}
