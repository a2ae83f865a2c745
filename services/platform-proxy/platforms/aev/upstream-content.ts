// What an OpenAEV 2.4.0 says of assets, techniques, vulnerabilities and documents, as far as it is read.

type Ids = readonly string[] | null | undefined;

/** An endpoint: what a search tells, and what only a read by id does. */
export interface UpstreamEndpoint {
  readonly asset_id: string;
  readonly asset_name: string;
  readonly endpoint_platform: string;
  readonly endpoint_arch: string;
  readonly asset_tags: readonly string[] | null;
  readonly asset_agents: readonly {
    readonly agent_active: boolean;
    readonly agent_privilege: string;
    readonly agent_last_seen: string | null;
    readonly agent_version: string | null;
    readonly agent_executor: { readonly executor_name: string } | null;
  }[];
  readonly asset_description?: string | null;
  readonly endpoint_hostname?: string | null;
  readonly endpoint_ips?: Ids;
  readonly endpoint_seen_ip?: string | null;
  readonly endpoint_mac_addresses?: Ids;
  readonly endpoint_is_eol?: boolean;
}

/** A condition of an asset group on its endpoints. */
export interface UpstreamCondition {
  readonly key: string;
  readonly operator?: string | null;
  readonly values?: Ids;
  /** Whether contains takes one of several values or asks for all; all where left out. */
  readonly mode?: "and" | "or" | null;
}

/** An asset group. */
export interface UpstreamAssetGroup {
  readonly asset_group_id: string;
  readonly asset_group_name: string;
  readonly asset_group_description: string | null;
  readonly asset_group_dynamic_filter: {
    readonly mode?: string | null;
    readonly filters?: readonly UpstreamCondition[] | null;
  } | null;
  readonly asset_group_assets: Ids;
  /** A read by id alone tells it. */
  readonly asset_group_dynamic_assets?: Ids;
  readonly asset_group_tags: Ids;
}

/** An attack technique. */
export interface UpstreamAttackPattern {
  readonly attack_pattern_id: string;
  readonly attack_pattern_external_id: string;
  readonly attack_pattern_name: string;
  readonly attack_pattern_description: string | null;
  readonly attack_pattern_platforms: readonly string[] | null;
  readonly attack_pattern_parent: string | null;
  readonly attack_pattern_kill_chain_phases?: Ids;
}

/** A vulnerability: a search tells the first four. */
export interface UpstreamVulnerability {
  readonly vulnerability_id: string;
  readonly vulnerability_external_id: string;
  readonly vulnerability_cvss_v31: number | null;
  readonly vulnerability_published: string | null;
  readonly vulnerability_description?: string | null;
  readonly vulnerability_vuln_status?: string | null;
  readonly vulnerability_source_identifier?: string | null;
  readonly vulnerability_remediation?: string | null;
  readonly vulnerability_reference_urls?: Ids;
  readonly vulnerability_cwes?:
    | readonly { readonly cwe_external_id: string; readonly cwe_source?: string | null }[]
    | null;
  readonly vulnerability_cisa_exploit_add?: string | null;
  readonly vulnerability_cisa_action_due?: string | null;
  readonly vulnerability_cisa_required_action?: string | null;
  readonly vulnerability_cisa_vulnerability_name?: string | null;
}

/** A document. */
export interface UpstreamDocument {
  readonly document_id: string;
  readonly document_name: string;
  readonly document_description: string | null;
  readonly document_type: string | null;
  readonly document_tags: Ids;
  readonly document_exercises: Ids;
  readonly document_scenarios: Ids;
}
