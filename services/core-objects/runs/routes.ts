import { RunService } from "#proto/core/v1/run_service_pb.js";
import { type Method, serverStream, unary } from "../../shared/rpc/method.js";
import type { Context } from "../context.js";
import { followRun } from "./commands/follow-run.js";
import { getRun } from "./commands/get-run.js";
import { listRunSteps } from "./commands/list-run-steps.js";
import { listRuns } from "./commands/list-runs.js";
import { triggerRun } from "./commands/trigger-run.js";
import { updateRun } from "./commands/update-run.js";

/** Every rpc of runs and the command that answers it. */
export function runRoutes(context: Context): readonly Method[] {
  const runs = RunService.method;
  return [
    unary(runs.listRuns, (request, call) => listRuns(context, request, call)),
    unary(runs.getRun, (request, call) => getRun(context, request, call)),
    serverStream(runs.triggerRun, (request, call) => triggerRun(context, request, call)),
    serverStream(runs.followRun, (request, call) => followRun(context, request, call)),
    unary(runs.updateRun, (request, call) => updateRun(context, request, call)),
    unary(runs.listRunSteps, (request, call) => listRunSteps(context, request, call)),
  ];
}
