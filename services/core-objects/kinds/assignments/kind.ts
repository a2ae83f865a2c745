import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AssignmentSchema,
  AssignmentService,
  type CreateAssignmentRequest,
} from "#proto/core/v1/assignment_service_pb.js";
import { invalidArgument, permissionDenied } from "../../../shared/rpc/errors.js";
import { serverStream } from "../../../shared/rpc/method.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import type { Refer } from "../../objects/model.js";
import type { Writer } from "../../objects/writer.js";
import { afterDeletion, endStanding } from "./after-deletion.js";
import type { AssignmentRecord } from "./record.js";
import { checkedNext, UTC } from "./schedule.js";
import { triggerAssignment } from "./trigger-assignment.js";

const { listAssignments, getAssignment, createAssignment, updateAssignment, deleteAssignment, ...more } =
  AssignmentService.method;

/** How long a schedule may run as its owner before the owner has to save it again: a year. */
const OWNER_STANDS_S = 366 * 24 * 3_600;

type Standing = Pick<AssignmentRecord, "delegation" | "schedule_key" | "paused" | "paused_at">;

/** What stands for the owner of a schedule, sealed: the owner sets it, and is present. */
async function standingFor(schedule: string, name: string, writer: Writer): Promise<Standing> {
  if (schedule === "") return { delegation: "", schedule_key: null, paused: "", paused_at: null };
  const options = { ttlSeconds: OWNER_STANDS_S, withoutKey: true, schedule: { id: writer.id, name } };
  const { delegation, key } = await writer.delegate(options);
  return { delegation: writer.seal(delegation, "delegation"), schedule_key: key, paused: "", paused_at: null };
}

type LimitsGiven = Pick<
  CreateAssignmentRequest,
  "maxSteps" | "timeoutSeconds" | "maxTokens" | "maxCost" | "maxTokensPerDay" | "maxCostPerDay"
>;

function limitsIn(request: { readonly [member in keyof LimitsGiven]?: LimitsGiven[member] | undefined }) {
  return {
    max_steps: request.maxSteps,
    timeout_seconds: request.timeoutSeconds,
    max_tokens: request.maxTokens,
    max_cost: request.maxCost,
    max_tokens_per_day: request.maxTokensPerDay,
    max_cost_per_day: request.maxCostPerDay,
  };
}

/** Assignments: agents' standing tasks. */
export const kind = defineKind({
  noun: "assignment",
  plural: "assignments",
  message: AssignmentSchema,
  references: { agent: "agent" },
  detaching: {
    agent:
      "delete each with delete_assignment, give it another agent with update_assignment and agent_id, or delete them with the agent: delete_agent with delete_assignments true",
  },
  hasParts: true,
  view: (record: AssignmentRecord, refer: Readonly<Record<"agent", Refer[string]>>) => ({
    agent: refer.agent(record.agent),
    input: record.input,
    schedule: record.schedule === "" ? undefined : record.schedule,
    timeZone: record.schedule === "" ? undefined : record.time_zone,
    nextRunAt: record.next_at === null ? undefined : timestampFromDate(record.next_at),
    scheduleKey: record.schedule_key ?? undefined,
    pausedReason: record.paused === "" ? undefined : record.paused,
    maxSteps: record.max_steps,
    timeoutSeconds: record.timeout_seconds,
    maxTokens: record.max_tokens || undefined,
    maxCost: record.max_cost || undefined,
    maxTokensPerDay: record.max_tokens_per_day || undefined,
    maxCostPerDay: record.max_cost_per_day || undefined,
    askingRun: record.asking === undefined ? undefined : { id: record.asking },
  }),
  reseal: ({ delegation }, again) => (delegation === "" ? {} : { delegation: again(delegation, "delegation") }),
  list: {
    rpc: listAssignments,
    without: ["input", "delegation"],
    named: ["agent"],
    hidden: [
      ...(["timeZone", "maxSteps", "timeoutSeconds", "maxTokens", "maxCost", "maxTokensPerDay"] as const),
      ...(["maxCostPerDay", "owner", "sharing", "etag", "createdAt", "updatedAt"] as const),
    ],
  },
  get: { rpc: getAssignment },
  create: {
    rpc: createAssignment,
    async content(request, writer) {
      const { name, agentId, input, schedule, timeZone, enabled = true, companyManaged } = request;
      const timing = { schedule, time_zone: timeZone === "" ? UTC : timeZone };
      const next_at = checkedNext({ ...timing, enabled });
      if (schedule !== "" && companyManaged) throw invalidArgument(NOBODY);
      const limits = given(limitsIn(request));
      return { agent: agentId, input, ...limits, ...timing, next_at, ...(await standingFor(schedule, name, writer)) };
    },
  },
  update: {
    rpc: updateAssignment,
    async changes(request, current, writer) {
      const { name, agentId, input, schedule, timeZone, enabled } = request;
      const timing = {
        schedule: schedule ?? current.schedule,
        time_zone: timeZone === undefined ? current.time_zone : timeZone === "" ? UTC : timeZone,
      };
      const limits = limitsIn(request);
      const says = [agentId, input, schedule, timeZone, ...Object.values(limits)].some((one) => one !== undefined);
      const begins = enabled === true && !current.enabled;
      const acts = says || begins;
      if (acts && (current.schedule !== "" || timing.schedule !== "")) checkOwner(current, writer);
      const changes = { ...given({ name, agent: agentId, input, ...limits }), ...timing };
      if (!acts && enabled === undefined) return changes;
      const next_at = checkedNext({ ...timing, enabled: enabled ?? current.enabled });
      if (!acts) return { ...changes, next_at };
      return { ...changes, next_at, ...(await standingFor(timing.schedule, name ?? current.name, writer)) };
    },
  },
  delete: { rpc: deleteAssignment, after: afterDeletion },
  leaving: {
    reads: ["next_at"],
    isActive: ({ next_at }) => next_at !== null,
    passed: ({ schedule }) =>
      schedule === ""
        ? undefined
        : {
            changes: {
              ...{ enabled: false, next_at: null, delegation: "", schedule_key: null },
              ...{ paused: HANDED_OVER, paused_at: new Date() },
            },
            notes: ["its schedule is paused: it runs as the new owner once the new owner enables it"],
          },
    erased: endStanding,
  },
  commands: (context) => [
    serverStream(more.triggerAssignment, (request, call) => triggerAssignment(context, request, call)),
  ],
  indexes: [
    { name: "next", key: { next_at: 1 } },
    { name: "stopped", key: { owner: 1, paused_at: 1 } },
  ],
});

const NOBODY =
  "a company-managed assignment has no owner to run as, so it cannot have a schedule: omit schedule and start it with trigger_assignment, or omit company_managed";

const HANDED_OVER =
  "it was handed over to you: read its agent and input, then enable it with update_assignment; it then runs as you";

/** Whoever else could say what runs as the owner would act as the owner. */
function checkOwner({ origin, owner }: AssignmentRecord, { userId }: Writer): void {
  if (origin !== "user") throw invalidArgument(NOBODY);
  if (owner === userId) return;
  throw permissionDenied(
    "a schedule runs as the assignment's owner, so only the owner can change its agent, input, limits and schedule, or enable it: create your own with create_assignment",
  );
}
