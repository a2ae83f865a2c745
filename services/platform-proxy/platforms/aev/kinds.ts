import { type Kind, named } from "./member.js";
import { oneOf } from "./search.js";
import type {
  UpstreamAssetGroup,
  UpstreamAttackPattern,
  UpstreamDocument,
  UpstreamEndpoint,
  UpstreamVulnerability,
} from "./upstream-content.js";

/** Endpoints, which are assets on the platform. */
export const ENDPOINT: Kind<UpstreamEndpoint> = {
  noun: "endpoint",
  route: "/endpoints",
  idKey: "asset_id",
  sortKey: "asset_name",
  filters: (row) => oneOf("asset_id", [row.asset_id]),
};

/** Asset groups. */
export const ASSET_GROUP: Kind<UpstreamAssetGroup> = {
  noun: "asset group",
  route: "/asset_groups",
  idKey: "asset_group_id",
  sortKey: "asset_group_name",
  filters: (row) => named("asset_group_name", row.asset_group_name),
};

/** Vulnerabilities. */
export const VULNERABILITY: Kind<UpstreamVulnerability> = {
  noun: "vulnerability",
  route: "/vulnerabilities",
  idKey: "vulnerability_id",
  sortKey: "vulnerability_external_id",
  filters: (row) => named("vulnerability_external_id", row.vulnerability_external_id),
};

/** Attack techniques. */
export const ATTACK_PATTERN: Kind<UpstreamAttackPattern> = {
  noun: "attack technique",
  route: "/attack_patterns",
  idKey: "attack_pattern_id",
  sortKey: "attack_pattern_external_id",
  filters: () => [],
  text: (row) => row.attack_pattern_external_id,
};

/** Documents. */
export const DOCUMENT: Kind<UpstreamDocument> = {
  noun: "document",
  route: "/documents",
  idKey: "document_id",
  sortKey: "document_name",
  filters: () => [],
  text: (row) => row.document_name,
};
