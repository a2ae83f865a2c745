import { create } from "@bufbuild/protobuf";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { ResourceService } from "#proto/core/v1/resource_service_pb.js";
import { Origin } from "#proto/core/v1/sharing_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { Period, TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { pageTokenOf } from "../../../services/shared/rpc/page-token.js";
import { createTracesService } from "../../../services/traces/service.js";
import { deep, nthId, putMany } from "./many.js";
import { as, type Rig, startRig } from "./rig.js";

/** Every list as each of the people who see all, ten or what their group sees, by a name for it. */
export type Lists = Readonly<Record<string, () => Promise<unknown>>>;

/** Services with so many agents, skills and traces, and the lists of them. */
export async function startWithMany(count: number): Promise<{ rig: Rig; lists: Lists }> {
  const rig = await startRig();
  const { store, peers, dispatch } = rig;
  rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 3650 }));
  await putMany(rig, { count, oneAgent: 0 });
  return { rig, lists: listsOf(dispatch, count) };
}

function listsOf(dispatch: Rig["dispatch"], count: number): Lists {
  const lists: Record<string, () => ReturnType<Lists[string]>> = {};
  const objects = { agents: AgentService.method.listAgents, skills: SkillService.method.listSkills } as const;
  const requestsOf = ({ input }: (typeof objects)[keyof typeof objects]) => ({
    "": {},
    " on page 500": { pageToken: pageTokenOf(deep(count), create(input)) },
    " of users": { origin: Origin.USER },
    " named nothing of that": { query: "nothing of that" },
    " named object": { query: "e" },
    " labelled even": { labels: ["even"] },
    " labelled rare": { labels: ["rare"] },
  });
  for (const [name, method] of Object.entries(objects)) {
    for (const who of ["root", "alice", "bob", "carl"]) {
      for (const [which, request] of Object.entries(requestsOf(method)))
        lists[`${name}${which}, ${who}`] = () =>
          dispatch.unary(method as typeof objects.agents, { ...request, pageSize: 50 }, as(who));
    }
  }
  for (const who of ["root", "alice", "bob", "carl"]) {
    for (const [which, request] of Object.entries({ "": {}, " named nothing of that": { query: "nothing of that" } }))
      lists[`resources${which}, ${who}`] = () =>
        dispatch.unary(ResourceService.method.listAvailableResources, { ...request, pageSize: 50 }, as(who));
  }
  const traces = { "": {}, " with source even": { source: "even" }, " with source none": { source: "none" } };
  for (const [who, targetAgentId] of [
    ["root", ""],
    ["root of one agent", nthId(0)],
    ["carl", nthId(0)],
  ] as const) {
    for (const [which, request] of Object.entries({
      ...traces,
      " with model m": { model: "m" },
      " failed": { status: 2 },
    }))
      lists[`traces${which}, ${who}`] = () =>
        dispatch.unary(
          TraceInspectionService.method.inspectAgentTraces,
          { ...request, targetAgentId, period: Period.ALL, pageSize: 50 },
          as(who.split(" ")[0] as string, "traces"),
        );
  }
  return lists;
}
