import { EntityListService } from "#proto/cti/v1/entity_list_service_pb.js";
import { type Binding, unary } from "../../../binding.js";
import { type KindNode, kindPage, kindRowOf, textsOf } from "../kinds.js";
import { timeOf } from "../knowledge.js";
import { ofPhase } from "../phases.js";

const {
  listIntrusionSets,
  listCampaigns,
  listMalware,
  listTools,
  listAttackPatterns,
  listIncidents,
  listIdentities,
  listLocations,
  listInfrastructures,
  listCoursesOfAction,
} = EntityListService.method;

/** The id of a technique or a sub-technique, as ATT&CK has them. */
const ATTACK_ID = /^\s*\[?(T\d{4}(?:\.\d{3})?)\]?\s*$/i;

/** How many characters of its description a technique's row shows. */
const TECHNIQUE_DESCRIPTION = 60;

/** A row of an object with a period. If the period is known, it replaces created_at. */
function seenRowOf(node: KindNode) {
  const { createdAt, ...row } = kindRowOf(node);
  const seen = { ...timeOf("firstSeen", node.first_seen), ...timeOf("lastSeen", node.last_seen) };
  const isSeen = Object.keys(seen).length > 0;
  return { ...row, ...seen, ...(!isSeen && createdAt !== undefined && { createdAt }) };
}

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listIntrusionSets, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Intrusion-Set"]);
    const intrusionSets = nodes.map((node) => ({
      ...seenRowOf(node),
      primaryMotivation: node.primary_motivation ?? "",
      resourceLevel: node.resource_level ?? "",
    }));
    return { intrusionSets, ...paging };
  }),
  unary(listCampaigns, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Campaign"]);
    return { campaigns: nodes.map(seenRowOf), ...paging };
  }),
  unary(listMalware, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Malware"]);
    const malware = nodes.map((node) => ({
      ...kindRowOf(node),
      malwareTypes: textsOf(node.malware_types),
      isFamily: node.is_family ?? false,
    }));
    return { malware, ...paging };
  }),
  unary(listTools, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Tool"]);
    return { tools: nodes.map((node) => ({ ...kindRowOf(node), toolTypes: textsOf(node.tool_types) })), ...paging };
  }),
  unary(listAttackPatterns, async (request, platform) => {
    const { killChainPhase, query } = request;
    const own = killChainPhase === undefined ? [] : [await ofPhase(platform, killChainPhase)];
    const [, identifier] = ATTACK_ID.exec(query) ?? [];
    // Other techniques name it in their texts, and the platform ranks them first.
    if (identifier !== undefined)
      own.push({ key: ["x_mitre_id"], values: [identifier.toUpperCase()], operator: "starts_with" });
    const asked = identifier === undefined ? request : { ...request, query: "" };
    const { nodes, paging } = await kindPage(platform, asked, ["Attack-Pattern"], own);
    const attackPatterns = nodes.map((node) => ({
      ...techniqueRowOf(node),
      killChainPhases: (node.killChainPhases ?? []).map(({ phase_name }) => phase_name),
      platforms: textsOf(node.x_mitre_platforms),
    }));
    return { attackPatterns, ...paging };
  }),
  unary(listIncidents, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Incident"]);
    const incidents = nodes.map((node) => ({
      ...seenRowOf(node),
      incidentType: node.incident_type ?? "",
      severity: node.severity ?? "",
    }));
    return { incidents, ...paging };
  }),
  unary(listIdentities, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, given(request.types, "Identity"));
    return { identities: nodes.map((node) => kindRowOf(node)), ...paging };
  }),
  unary(listLocations, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, given(request.types, "Location"));
    return { locations: nodes.map((node) => kindRowOf(node)), ...paging };
  }),
  unary(listInfrastructures, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Infrastructure"]);
    const infrastructures = nodes.map((node) => ({
      ...kindRowOf(node),
      infrastructureTypes: textsOf(node.infrastructure_types),
    }));
    return { infrastructures, ...paging };
  }),
  unary(listCoursesOfAction, async (request, platform) => {
    const { nodes, paging } = await kindPage(platform, request, ["Course-Of-Action"]);
    return { coursesOfAction: nodes.map((node) => kindRowOf(node)), ...paging };
  }),
];

/** A technique is known by its name: its row has phases and platforms, a shorter description and no created_at. */
function techniqueRowOf(node: KindNode) {
  const { createdAt: _, ...row } = kindRowOf(node, TECHNIQUE_DESCRIPTION);
  return row;
}

const given = (types: readonly string[], whole: string): readonly string[] => (types.length === 0 ? [whole] : types);
