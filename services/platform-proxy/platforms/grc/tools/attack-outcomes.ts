import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AttackOutcomeSchema } from "#proto/grc/v1/attack_outcome_pb.js";
import { RiskService } from "#proto/grc/v1/risk_service_pb.js";
import { unary } from "../../../binding.js";
import { given } from "../../../lib/fields.js";
import { pagingOf } from "../../../lib/pages.js";
import { type Dated, pageByTime } from "../by-time.js";
import { pageOf, readAll } from "../lists.js";
import { readNamedOrAll } from "../named-or-all.js";
import { inTenant, makeSure, readShared } from "../tenancy.js";
import { type Related, ratingOf, referenceOf, type Step } from "../upstream.js";

interface UpstreamOperationalScenario extends Dated {
  readonly str: string;
  readonly ref_id: string | null;
  readonly ebios_rm_study: Related;
  readonly attack_path: Related | null;
  readonly ro_to: { readonly risk_origin?: Related | null; readonly target_objective?: string | null } | null;
  readonly likelihood: Step;
  readonly gravity: Step;
  readonly risk_level: Step;
  readonly operating_modes_description: string | null;
  readonly is_selected: boolean;
}

const OUTCOMES = "/api/ebios-rm/operational-scenarios/";
const STUDIES = "/api/ebios-rm/studies/";

/** How the tools of attack outcomes are answered. */
export const bindings = [
  unary(RiskService.method.listAttackOutcomes, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => {
      const page = pageOf(r, tenant.id);
      // There is no filter by domain, nor by time; a study lies in one, and holds few.
      const studies = await readNamedOrAll<Dated>(platform, STUDIES, r.studyId, "study_id", tenant);
      const queries = studies.map(({ id }) => ({ ebios_rm_study: id }));
      const all = await readAll<UpstreamOperationalScenario>(platform, OUTCOMES, queries, tenant);
      if (all.length === 0) await makeSure(platform, tenant);
      const listed = pageByTime(all, "newest", page);
      return {
        attackOutcomes: listed.rows.map((row) => outcomeRowOf(row, r.studyId !== undefined)),
        ...pagingOf(page, listed),
      };
    }),
  ),

  unary(RiskService.method.getAttackOutcome, (r, platform) =>
    inTenant(platform, r.tenantId, async (tenant) => ({
      attackOutcome: outcomeOf(await readShared(platform, OUTCOMES, r.attackOutcomeId, "attack_outcome_id", tenant)),
    })),
  ),
];

/** An attack outcome as a row of a list; of one study where `ofOne`. */
function outcomeRowOf(
  upstream: UpstreamOperationalScenario,
  ofOne: boolean,
): MessageInitShape<typeof AttackOutcomeSchema> {
  const { id, name, refId, study, riskLevel, selected, hiddenLinks } = outcomeOf(upstream);
  return {
    id,
    name,
    ...given({ refId, riskLevel, hiddenLinks }),
    ...(!ofOne && study && { study: { id: study.id } }),
    selected,
  };
}

const HIDDEN_PATH = "an attack path that you may not see";

/**
 * An attack outcome as tools show it. Its name, reference, attacker and
 * objective are those of its path, which may be of another study, and another
 * tenant's: the platform hides the path then, and tells them all the same.
 */
function outcomeOf(upstream: UpstreamOperationalScenario) {
  const isHidden = upstream.attack_path !== null && upstream.attack_path.id === undefined;
  const told = isHidden ? undefined : upstream;
  return {
    id: upstream.id,
    name: told?.str ?? HIDDEN_PATH,
    method: "ebios-rm",
    ...given({
      refId: told?.ref_id,
      study: referenceOf(upstream.ebios_rm_study),
      domain: referenceOf(upstream.folder),
      attackPath: referenceOf(told?.attack_path),
      riskOrigin: told?.ro_to?.risk_origin?.str,
      targetObjective: told?.ro_to?.target_objective,
      operatingMode: upstream.operating_modes_description,
      likelihood: ratingOf(upstream.likelihood),
      gravity: ratingOf(upstream.gravity),
      riskLevel: ratingOf(upstream.risk_level),
      hiddenLinks: isHidden ? 1 : undefined,
    }),
    selected: upstream.is_selected,
  } satisfies MessageInitShape<typeof AttackOutcomeSchema>;
}
