import { type DescService, getOption } from "@bufbuild/protobuf";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { AssetService } from "#proto/grc/v1/asset_service_pb.js";
import { ControlService } from "#proto/grc/v1/control_service_pb.js";
import { CveService } from "#proto/grc/v1/cve_service_pb.js";
import { EvidenceService } from "#proto/grc/v1/evidence_service_pb.js";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { OrganizationService } from "#proto/grc/v1/organization_service_pb.js";
import { QuantificationService } from "#proto/grc/v1/quantification_service_pb.js";
import { RiskService } from "#proto/grc/v1/risk_service_pb.js";
import { TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { needs } from "#proto/platform/v1/needs_pb.js";
import { GRC_ROLE } from "../../../shared/roles/grc.js";

/** The services whose tools need rights on the platform. */
const SERVICES: readonly DescService[] = [
  AssessmentService,
  AssetService,
  ControlService,
  CveService,
  EvidenceService,
  FrameworkService,
  OrganizationService,
  QuantificationService,
  RiskService,
  TenantService,
];

/** Of some 400 codenames of the platform, those that decide about tools here: in alphabetical order, each once. */
export const RIGHTS_OF_TOOLS: readonly string[] = [
  ...new Set(
    SERVICES.flatMap(({ methods }) => methods)
      .flatMap((method) => getOption(method, needs))
      .flatMap((need) => GRC_ROLE.meets[need] ?? [need]),
  ),
].sort();
