import type { Binding } from "../../../binding.js";
import { assessmentService } from "./assessment-service.js";
import { controlService } from "./control-service.js";
import { evidenceService } from "./evidence-service.js";
import { frameworkService } from "./framework-service.js";
import { riskService } from "./risk-service.js";
import { tenantService } from "./tenant-service.js";

/** Every tool of the grc server. */
export const grcBindings: readonly Binding[] = [
  ...assessmentService,
  ...controlService,
  ...evidenceService,
  ...frameworkService,
  ...riskService,
  ...tenantService,
];
