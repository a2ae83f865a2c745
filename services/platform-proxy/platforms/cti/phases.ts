import { notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";
import { nodesOf } from "./paging.js";
import { all, type Filter } from "./resolve.js";

/** Kill-chain phases by their names. */
export const PHASES = operation(`
  query Phases($filters: FilterGroup) {
    killChainPhases(filters: $filters, first: 50) {
      edges {
        node {
          id
        }
      }
    }
  }
`);

/** What is of a phase, which several kill chains may have. @throws ConnectError not_found, where none has it. */
export async function ofPhase(platform: Platform, name: string): Promise<Filter> {
  const { killChainPhases } = await platform.graphql(PHASES, {
    filters: all({ key: ["phase_name"], values: [name.trim()] }),
  });
  const values = nodesOf(killChainPhases).map(({ id }) => id);
  if (values.length === 0)
    throw notFound(`kill_chain_phase: no phase has the name ${name}; get_attack_matrix returns the names`);
  return { key: ["killChainPhases"], values };
}
