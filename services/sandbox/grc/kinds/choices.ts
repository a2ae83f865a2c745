/** Codes with the labels that stand for them in English answers. */
export type Choices = Readonly<Record<string, string>>;

/** Status of a control. */
export const CONTROL_STATUS: Choices = {
  "--": "Undefined",
  to_do: "To do",
  in_progress: "In progress",
  on_hold: "On hold",
  active: "Active",
  degraded: "Degraded",
  deprecated: "Deprecated",
};
/** Category of a control. */
export const CATEGORY: Choices = {
  policy: "Policy",
  process: "Process",
  technical: "Technical",
  physical: "Physical",
  procedure: "Procedure",
};
/** Functions of the NIST CSF. */
export const CSF_FUNCTION: Choices = {
  govern: "Govern",
  identify: "Identify",
  protect: "Protect",
  detect: "Detect",
  respond: "Respond",
  recover: "Recover",
};
/** Priority of a control. */
export const PRIORITY: Choices = { 1: "P1", 2: "P2", 3: "P3", 4: "P4" };
/** Effort of a control. */
export const EFFORT: Choices = { XS: "Extra Small", S: "Small", M: "Medium", L: "Large", XL: "Extra Large" };
/** Impact of a control. */
export const IMPACT: Choices = { 1: "Very Low", 2: "Low", 3: "Medium", 4: "High", 5: "Very High" };
/** Status of evidence. */
export const EVIDENCE_STATUS: Choices = {
  draft: "Draft",
  missing: "Missing",
  in_review: "In review",
  approved: "Approved",
  rejected: "Rejected",
  expired: "Expired",
};
/** Status of an assessment. */
export const AUDIT_STATUS: Choices = {
  planned: "Planned",
  in_progress: "In progress",
  in_review: "In review",
  done: "Done",
  deprecated: "Deprecated",
};
/** Result of a requirement assessment. */
export const RESULT: Choices = {
  not_assessed: "Not assessed",
  partially_compliant: "Partially compliant",
  non_compliant: "Non-compliant",
  compliant: "Compliant",
  not_applicable: "Not applicable",
};
/** Status of a requirement assessment. */
export const REQUIREMENT_STATUS: Choices = {
  to_do: "To do",
  in_progress: "In progress",
  in_review: "In review",
  done: "Done",
};
/** Treatment of a risk scenario. */
export const TREATMENT: Choices = {
  open: "Open",
  mitigate: "Mitigate",
  accept: "Accept",
  avoid: "Avoid",
  transfer: "Transfer",
  cancelled: "Cancelled",
};
/** Type of an asset. */
export const ASSET_TYPE: Choices = { PR: "Primary", SP: "Support" };
/** Type of a folder. */
export const FOLDER_TYPE: Choices = { GL: "GLOBAL", DO: "DOMAIN", EN: "ENCLAVE", PE: "PERSONAL" };

/** The label of a code; null for none. */
export function labelOf(choices: Choices, code: unknown): string | null {
  return code === null || code === undefined ? null : (choices[String(code)] ?? null);
}
