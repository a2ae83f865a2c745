import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { IntegrationService, IntegrationType } from "#proto/core/v1/integration_service_pb.js";
import type { Run } from "#proto/core/v1/run_pb.js";
import { RunState } from "#proto/core/v1/run_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import type { RunRecord, StepRecord } from "../../../../services/core-objects/runs/record.js";
import type { WorkerOptions } from "../../../../services/core-objects/runs/worker.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { readTools } from "../../../../services/shared/tools/tools.js";
import { createTracesService } from "../../../../services/traces/service.js";
import { as, type Rig, startRig } from "../rig.js";
import { type Asked, type Reply, startModel } from "./model-server.js";

// A worker with a model in front of it, which says what a test has it say.

/** Workers of tests look often, and are soon given up; not before their threads have started on a busy machine. */
export const QUICK: WorkerOptions = { atOnce: 8, leaseMs: 1_500, turnRuns: 4, turnMs: 1_000, lookMs: 20 };
export const CREDENTIAL = "sk-sentinel-of-a-credential";
const UNFINISHED = [RunState.QUEUED, RunState.RUNNING];

/** What a test has the model and the other services of the net answer, until it says otherwise. */
export interface Script {
  reply: (asked: Asked) => Reply | Promise<Reply>;
  other: (request: IncomingMessage, body: string, response: ServerResponse) => void;
}

export async function startStage(options: Parameters<typeof startRig>[0] = {}) {
  const script: Script = { reply: () => "Done.", other: (_request, _body, response) => void response.end("{}") };
  const model = await startModel(
    (asked) => script.reply(asked),
    (...request) => script.other(...request),
  );
  const tools = readTools(readImage());
  const rig: Rig = await startRig({ runs: { tools, worker: QUICK }, ...options });
  const call = rig.dispatch.unary;

  async function integrate(more: object = {}, who = "alice"): Promise<string> {
    const request = { name: "Models", type: IntegrationType.OPENAI, endpoint: `${model.url}/v1`, models: ["large"] };
    const made = await call(
      IntegrationService.method.createIntegration,
      { ...request, credential: CREDENTIAL, ...more },
      as(who),
    );
    return made.integration!.id;
  }

  return {
    rig,
    model,
    script,
    integrate,
    async agent(more: object = {}, who = "alice"): Promise<string> {
      const request = { name: "Analyst", instructions: "Look closely.", ...more };
      return (await call(AgentService.method.createAgent, request, as(who))).agent!.id;
    },
    async trigger(agentId: string, more: object = {}, who = "alice"): Promise<Run> {
      const request = { agentId, input: "Look.", ...more };
      for await (const { event } of rig.dispatch.stream(RunService.method.triggerRun, request, as(who)))
        if (event.case === "result") return event.value.run!;
      throw new Error("no result");
    },
    /** The run once it rests. */
    async rested(runId: string, who = "alice"): Promise<Run> {
      for (let n = 0; n < 6_000; n++) {
        const { run } = await call(RunService.method.getRun, { runId }, as(who));
        if (!UNFINISHED.includes(run!.state)) return run!;
        await sleep(10);
      }
      throw new Error(`${runId} does not rest`);
    },
    steps: (run: string): Promise<StepRecord[]> =>
      rig.store
        .collection<StepRecord>("run_steps")
        .find({ run }, { sort: { _id: 1 } })
        .toArray(),
    record: (run: string): Promise<RunRecord | null> => rig.store.collection<RunRecord>("runs").findOne({ _id: run }),
    async close() {
      await rig.close();
      await model.close();
    },
  };
}

/** The same, with the service that keeps traces. */
export async function startTracedStage() {
  const stage = await startStage();
  const { store, peers } = stage.rig;
  stage.rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 30 }));
  return stage;
}
