import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { TraceUsageService } from "#proto/traces/v1/trace_usage_service_pb.js";
import type { OutgoingPolicy } from "../shared/outgoing/policy.js";
import { loadFolder } from "../shared/process/folder.js";
import type { Log } from "../shared/process/log.js";
import type { Processes } from "../shared/process/processes.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Service } from "../shared/rpc/service.js";
import type { Seal } from "../shared/secrets/seal.js";
import type { Store } from "../shared/store/store.js";
import type { Tool } from "../shared/tools/tools.js";
import { createPeople } from "./belongings/people.js";
import { installBuiltins, readBuiltins } from "./builtins.js";
import { type Context, type Kind, openContext } from "./context.js";
import { recountOne, startCounting } from "./count-room.js";
import { createDelegations } from "./delegations.js";
import type { KnowledgeOptions } from "./knowledge/knowledge.js";
import { startWarmUp } from "./knowledge/warm-up.js";
import { startWorker as startIngestion } from "./knowledge/worker.js";
import { type Pace, startSending } from "./notices/sender.js";
import type { WebhookSettings } from "./notices/setting.js";
import { createPrincipals } from "./principals.js";
import { resealAll } from "./reseal.js";
import type { ObjectQuota } from "./room.js";
import { routes } from "./routes.js";
import type { AskingAgents } from "./runs/asking-agents.js";
import { recountDay } from "./runs/recount-day.js";
import { startSchedules } from "./runs/schedules.js";
import type { DayLimits } from "./runs/spending/day-limits.js";
import type { ModelFacts } from "./runs/spending/prices.js";
import { createOwnTools } from "./runs/tools/own-tools.js";
import { startWorker, WORKER, type Worker, type WorkerOptions } from "./runs/worker.js";

/** What the service needs. */
export interface Options {
  readonly store: Store;
  /** How auth is asked whom an object is shared with. */
  readonly peers: Peers;
  readonly log: Log;
  /** Seals what is secret of objects. */
  readonly seal: Seal;
  /** Which addresses are called that users name; PUBLIC_ONLY if left out. */
  readonly outgoing?: OutgoingPolicy;
  /** What starts processes; made here if left out. */
  readonly processes?: Processes;
  /** What may be stored, if not what OBJECT_QUOTA says. */
  readonly quota?: Partial<ObjectQuota>;
  /** How knowledge is found, where not as usual. */
  readonly knowledge?: KnowledgeOptions;
  /** Who receives what people should hear of; nobody if left out. */
  readonly webhook?: WebhookSettings | undefined;
  readonly webhookPace?: Pace;
  /** What is known of models; nothing if left out. */
  readonly models?: ModelFacts;
  /** What may be spent on models on a day; any amount if left out. */
  readonly dayLimits?: DayLimits;
  /** With which tools of ours agents work; where left out, this process executes no runs. */
  readonly runs?: {
    readonly tools: readonly Tool[];
    readonly worker?: WorkerOptions;
    /** Which agents ask before they write to the outside; those that are company-managed if left out. */
    readonly asking?: AskingAgents;
  };
}

/** Every kind of object there is: a folder of `kinds/` each, whose `kind.ts` exports `kind`. */
export async function loadKinds(): Promise<readonly Kind[]> {
  const modules = await loadFolder<{ readonly kind: Kind }>(new URL("kinds/", import.meta.url), "kind.js");
  return modules.map(({ kind }) => kind);
}

/** Our own records and their gates; installs what ships with the product, and seals with the newest key, before it serves. */
export async function createCoreObjectsService(options: Options): Promise<Service> {
  const { store, peers, log, seal, outgoing, processes, quota, knowledge, models, dayLimits } = options;
  let worker: Worker | undefined;
  const kinds = await loadKinds();
  const context = await openContext(store, kinds, {
    principals: createPrincipals(peers),
    delegations: createDelegations(peers),
    traceUsage: (userId) => peers.callAsService(TraceUsageService.method.getTraceUsage, { userId }),
    auditUsage: (userId) => peers.callAsService(AuditService.method.getAuditUsage, { userId }),
    wakeWorker: () => worker?.wake(),
    people: createPeople(peers),
    audit: async (request) => (await peers.callAsService(AuditService.method.recordAudit, request)).numbers,
    reachChanged: (users) => publishReach(users, { peers, log }),
    toolNames: options.runs && new Set(options.runs.tools.map(({ server, name }) => `${server}/${name}`)),
    noticesFull:
      options.webhook && (() => log.error("too many notices wait for their receiver: new ones are not kept")),
    closedAddress: (refused) => log.info(refused, "the address of a remote is closed"),
    seal,
    outgoing,
    processes,
    quota,
    knowledge,
    models,
    dayLimits,
  });
  const changed = await installBuiltins(context, readBuiltins(kinds));
  if (changed > 0) log.info({ changed }, "built-in objects installed");
  const resealed = await resealAll(context, log);
  if (resealed > 0) log.info({ resealed }, "secrets of objects sealed with the newest key");
  const ingestion = startIngestion(context, log);
  const warmUp = startWarmUp(context, log);
  const counting = startCounting([() => recountOne(context.counted), () => recountDay(context.countedRuns)], log);
  const executing = options.runs && execute(context, options.runs, { peers, log });
  const parts = { ...context, notices: context.noticeRecords };
  const sending = options.runs && options.webhook && startSending(parts, options.webhook, log, options.webhookPace);
  worker = executing?.worker;
  return {
    name: "core-objects",
    methods: routes(context),
    async ready() {
      try {
        await store.ping();
        return undefined;
      } catch {
        return "the store does not answer";
      }
    },
    async close() {
      await executing?.close();
      await sending?.close();
      await ingestion.close();
      await warmUp.close();
      await counting.close();
      await context.knowledge.close();
      await context.isolation.close();
      await context.processes.close();
    },
  };
}

/** The change is made already: what cannot be told is kept for half a minute by those who have not heard of it. */
async function publishReach(users: readonly string[], { peers, log }: Pick<Options, "peers" | "log">): Promise<void> {
  try {
    const { publish } = WatchService.method;
    await Promise.all(users.map((id) => peers.callAsService(publish, { kind: EventKind.REACH, id })));
  } catch (error) {
    log.warn({ err: error }, "lists of tools may be half a minute old: auth did not take an event");
  }
}

/** Executes runs in this process, and begins those of schedules. */
function execute(
  context: Context,
  { tools, worker: options = WORKER, asking = "company" }: NonNullable<Options["runs"]>,
  { peers, log }: Pick<Options, "peers" | "log">,
): { readonly worker: Worker; close(): Promise<void> } {
  const parts = { context, peers, own: createOwnTools(tools, peers), asking };
  const worker = startWorker(parts, log, options);
  const schedules = startSchedules(context, log, options.lookMs);
  return {
    worker,
    async close() {
      await schedules.close();
      await worker.close();
    },
  };
}
