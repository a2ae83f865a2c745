import type { Platform } from "../../platform.js";
import { chunksOf, type InFolder, readTenantPage } from "./lists.js";
import type { Tenant } from "./tenancy.js";
import { type Decimal, decimalOf, type Related } from "./upstream.js";

// The platform keeps the figures of a simulation when its inputs change, and marks
// what it calls the hypothesis. It has no filter for the mark, and a hypothesis with
// its curve has some 80 KB: so they are read in the order of the mark, and no further.

/** The inputs of a simulation, and what it came to. */
export interface UpstreamHypothesis extends InFolder {
  readonly id: string;
  readonly quantitative_risk_scenario: Related;
  readonly risk_stage: string;
  /** Of several treatments, the one whose figures count. */
  readonly is_selected: boolean;
  /** Whether its figures are those of its inputs. */
  readonly is_simulation_fresh: boolean;
  /** None where no simulation was run. */
  readonly ale: Decimal;
}

const HYPOTHESES = "/api/crq/quantitative-risk-hypotheses/";
const AT_ONCE = 10;

/**
 * The simulations whose inputs have changed since.
 *
 * @param by the filter that takes the ids.
 * @returns undefined where the caller may see none of them.
 */
export async function readStale(
  platform: Platform,
  by: "id" | "quantitative_risk_scenario",
  ids: readonly string[],
  tenant: Tenant,
): Promise<readonly UpstreamHypothesis[] | undefined> {
  const stale: UpstreamHypothesis[] = [];
  let isShown = ids.length === 0;
  for (const some of chunksOf(ids)) {
    const query = { [by]: by === "id" ? some.join(",") : some, ordering: "is_simulation_fresh,id" };
    for (let offset = 0; ; ) {
      const page = await readTenantPage<UpstreamHypothesis>(
        platform,
        HYPOTHESES,
        query,
        { size: AT_ONCE, offset },
        tenant,
      );
      isShown ||= page.totalSize > 0;
      const found = page.rows.filter((one) => !one.is_simulation_fresh);
      stale.push(...found.filter(({ ale }) => decimalOf(ale) !== undefined));
      offset += page.rows.length;
      if (found.length < AT_ONCE || offset >= page.totalSize) break;
    }
  }
  return isShown ? stale : undefined;
}
