// What an OpenAEV 2.4.0 takes: the keys to filter and sort by that it offers
// for each kind of object, and the fields of the bodies of writes.

interface Searchable {
  readonly filters: readonly string[];
  readonly sorts: readonly string[];
}

const of = (prefix: string, names: string) => names.split(" ").map((name) => `${prefix}_${name}`);

const INJECTS: Searchable = {
  filters: of(
    "inject",
    "title type status injector_contract assets asset_groups teams tags attack_patterns kill_chain_phases contract_domains platforms updated_at",
  ),
  sorts: of("inject", "title updated_at depends_duration status"),
};

const FINDINGS: Searchable = {
  filters: of(
    "finding",
    "type value field name inject_id simulation scenario assets asset_groups tags created_at updated_at",
  ),
  sorts: of("finding", "type value field name inject_id created_at updated_at"),
};

/** By route, with {id} for an id. */
export const SEARCHES: Readonly<Record<string, Searchable>> = {
  "POST /api/scenarios/search": {
    filters: of(
      "scenario",
      "name category severity tags platforms kill_chain_phases recurrence dependencies updated_at",
    ),
    sorts: of("scenario", "name category severity updated_at dependencies"),
  },
  "POST /api/exercises/search": {
    filters: of("exercise", "name status scenario tags kill_chain_phases start_date end_date updated_at"),
    sorts: of("exercise", "name status start_date end_date updated_at"),
  },
  "POST /api/scenarios/{id}/injects/simple": INJECTS,
  "POST /api/exercises/{id}/injects/search": INJECTS,
  "POST /api/findings/search": FINDINGS,
  "POST /api/findings/scenarios/{id}/search": FINDINGS,
  "POST /api/findings/exercises/{id}/search": FINDINGS,
  "POST /api/findings/endpoints/{id}/search": FINDINGS,
  "POST /api/endpoints/search": {
    filters: [
      ...of("asset", "id name tags external_reference"),
      "assetGroups",
      ...of("endpoint", "hostname ips seen_ip platform arch"),
    ],
    sorts: [...of("asset", "name external_reference"), ...of("endpoint", "hostname seen_ip platform arch")],
  },
  "POST /api/attack_patterns/search": { filters: [], sorts: of("attack_pattern", "name external_id created_at") },
  "POST /api/tags/search": { filters: [], sorts: of("tag", "name color") },
};

const SCENARIO = of(
  "scenario",
  "category custom_dashboard description external_reference external_url mail_from_name mails_reply_to main_focus message_footer message_header name severity subtitle tags",
);

/** The fields of the bodies, by route. */
export const INPUTS: Readonly<Record<string, readonly string[]>> = {
  "POST /api/scenarios": SCENARIO,
  "PUT /api/scenarios/{id}": SCENARIO,
  "PUT /api/scenarios/{id}/tags": ["scenario_tags"],
  "PUT /api/exercises/{id}/status": ["exercise_status"],
};
