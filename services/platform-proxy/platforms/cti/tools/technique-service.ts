import { TechniqueService } from "#proto/cti/v1/technique_service_pb.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../../binding.js";
import { pageOfRows, readWhole, TECHNIQUES_OF } from "../around.js";
import { operation } from "../graphql.js";
import { refOf } from "../knowledge.js";
import { objectOf } from "../resolve.js";

const { listEntityTtps, getAttackMatrix } = TechniqueService.method;

/** Techniques by kill-chain phase. */
export const MATRIX = operation(`
  query Matrix {
    attackPatternsMatrix {
      attackPatternsOfPhases {
        kill_chain_name
        phase_name
        x_opencti_order
        attackPatterns {
          attack_pattern_id
          name
          x_mitre_id
        }
      }
    }
  }
`);

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listEntityTtps, async (request, platform) => {
    const object = await objectOf(platform, request.objectId);
    const { nodes, isLowerBound } = await readWhole(async (place) => {
      return (await platform.graphql(TECHNIQUES_OF, { id: [object.id], ...place })).stixCoreRelationships;
    });
    const byId = new Map(nodes.flatMap(({ to }) => (to?.id === undefined ? [] : [[to.id, to as Used] as const])));
    const read = { nodes: [...byId.values()], isLowerBound };
    const { rows, paging } = pageOfRows(request, ["ttps", object.id], read, byName);
    const ttps = rows.map(({ id, representative, killChainPhases }) => ({
      id,
      name: representative.main,
      killChainPhases: (killChainPhases ?? []).map(({ phase_name }) => phase_name),
    }));
    return { object: refOf(object), ttps, ...paging };
  }),
  unary(getAttackMatrix, async ({ killChain, killChainPhase }, platform) => {
    const { attackPatternsMatrix } = await platform.graphql(MATRIX, {});
    const same = (asked: string, name: string) => asked === "" || asked.trim().toLowerCase() === name.toLowerCase();
    const all = attackPatternsMatrix?.attackPatternsOfPhases ?? [];
    const ofChain = all.filter(({ kill_chain_name }) => same(killChain, kill_chain_name));
    if (ofChain.length === 0 && killChain !== "") throw unknownOf("kill_chain", "kill chain", all, "kill_chain_name");
    const wanted = ofChain.filter(({ phase_name }) => same(killChainPhase, phase_name));
    if (wanted.length === 0 && killChainPhase !== "")
      throw unknownOf("kill_chain_phase", "phase", ofChain, "phase_name");
    const phases = wanted.map(({ kill_chain_name, phase_name, x_opencti_order, attackPatterns }) => ({
      order: x_opencti_order,
      killChain: kill_chain_name,
      name: phase_name,
      techniqueCount: attackPatterns?.length ?? 0,
      techniques:
        killChainPhase === "" ? [] : (attackPatterns ?? []).map(techniqueOf).sort((a, b) => compare(a.name, b.name)),
    }));
    return {
      phases: phases.sort((a, b) => compare(a.killChain, b.killChain) || a.order - b.order || compare(a.name, b.name)),
    };
  }),
];

/** The refusal of a name that none of the phases has, with the names that there are. */
function unknownOf<Name extends string>(
  argument: string,
  what: string,
  phases: readonly Readonly<Record<Name, string>>[],
  name: Name,
) {
  const known = [...new Set(phases.map((phase) => phase[name]))].sort();
  return notFound(
    `${argument}: no such ${what} has techniques that you can see; ${known.length === 0 ? "none has" : `use one of: ${known.join(", ")}`}`,
  );
}

interface Used {
  readonly id: string;
  readonly representative: { readonly main: string };
  readonly killChainPhases: readonly { readonly phase_name: string }[] | null;
}

const byName = ({ id, representative }: Used): string => `${representative.main.toLowerCase()} ${id}`;

/** A technique, named as the platform shows it elsewhere. */
const techniqueOf = (one: {
  readonly attack_pattern_id: string;
  readonly name: string;
  readonly x_mitre_id: string | null;
}) => ({
  id: one.attack_pattern_id,
  name: one.x_mitre_id ? `[${one.x_mitre_id}] ${one.name}` : one.name,
});

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
