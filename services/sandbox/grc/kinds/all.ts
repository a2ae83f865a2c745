import { complianceAssessments, perimeters } from "./assessments.js";
import { assets } from "./assets.js";
import { operationalScenarios, studies } from "./attacks.js";
import { appliedControls, referenceControls } from "./controls.js";
import { evidenceRevisions, evidences } from "./evidence.js";
import { attachmentOf } from "./evidence-file.js";
import { hypotheses } from "./hypotheses.js";
import type { Kind } from "./kind.js";
import { actors, folders, frameworks, requirementNodes, riskMatrices, securityAdvisories, threats } from "./library.js";
import { kindOf } from "./plain.js";
import { quantitativeScenarios, quantitativeStudies } from "./quantification.js";
import { requirementAssessments } from "./requirements.js";
import { riskAssessments, riskScenarios } from "./risks.js";
import { PLAIN_KINDS } from "./table.js";

/** Every kind of object, by its path: those with rules of their own, and those of the table. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
  [
    actors,
    appliedControls,
    assets,
    complianceAssessments,
    evidenceRevisions,
    { ...evidences, actions: { attachment: attachmentOf } },
    folders,
    frameworks,
    hypotheses,
    operationalScenarios,
    perimeters,
    quantitativeScenarios,
    quantitativeStudies,
    referenceControls,
    requirementAssessments,
    requirementNodes,
    riskAssessments,
    riskMatrices,
    riskScenarios,
    securityAdvisories,
    studies,
    threats,
    ...PLAIN_KINDS.map(kindOf),
  ].map((kind) => [kind.path, kind]),
);
