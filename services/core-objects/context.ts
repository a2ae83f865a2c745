import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GetAuditUsageResponseSchema, RecordAuditRequestSchema } from "#proto/auth/v1/audit_service_pb.js";
import type { GetTraceUsageResponseSchema } from "#proto/traces/v1/trace_usage_service_pb.js";
import { type ClosedAddress, createIsolation, type Isolation } from "../shared/isolation/isolation.js";
import { type OutgoingPolicy, PUBLIC_ONLY } from "../shared/outgoing/policy.js";
import { createProcesses, type Processes } from "../shared/process/processes.js";
import type { Method } from "../shared/rpc/method.js";
import type { Seal } from "../shared/secrets/seal.js";
import type { CollectionSpec, DocCollection, Store } from "../shared/store/store.js";
import type { People } from "./belongings/people.js";
import { type CountedParts, countRoom } from "./count-room.js";
import type { Delegations } from "./delegations.js";
import { type Knowledge, type KnowledgeOptions, openKnowledge } from "./knowledge/knowledge.js";
import { createNotices, NO_NOTICES, type Notices } from "./notices/notices.js";
import { NOTICES, type NoticeRecord } from "./notices/record.js";
import type { Leaving } from "./objects/leaving.js";
import { leaveOut } from "./objects/left-out.js";
import type { Reseal } from "./objects/secrets.js";
import type { Action } from "./policy.js";
import type { Principals } from "./principals.js";
import type { ObjectRecord, Shipped } from "./record.js";
import { createRoom, OBJECT_QUOTA, type ObjectQuota, ROOM_COLLECTION, type Room, type RoomRecord } from "./room.js";
import { LiveTexts } from "./runs/live.js";
import { RUNS, type RunRecord, STEPS, type StepRecord } from "./runs/record.js";
import { RIGHTS, type RightsRecord } from "./runs/rights.js";
import {
  countRuns,
  createRunRoom,
  RUN_ROOM,
  type RunRoom,
  type RunRoomParts,
  type RunRoomRecord,
} from "./runs/run-room.js";
import { SPENDING, type SpendingRecord } from "./runs/spending/counters.js";
import { type DayLimits, NO_LIMITS } from "./runs/spending/day-limits.js";
import { type ModelFacts, NO_FACTS } from "./runs/spending/prices.js";

/** Writes records of the audit, and the outcomes of earlier ones. @returns the numbers of the records. */
export type RecordAudit = (request: MessageInitShape<typeof RecordAuditRequestSchema>) => Promise<readonly bigint[]>;

/** What this service was built with: every command's first argument. */
export interface Context {
  readonly kinds: readonly Kind[];
  readonly principals: Principals;
  readonly room: Room;
  /** What the room counts. */
  readonly counted: CountedParts;
  /** Seals what is secret of objects. */
  readonly seal: Seal;
  /** Documents of knowledge bases. */
  readonly knowledge: Knowledge;
  readonly delegations: Delegations;
  /** Which addresses are called that users name. */
  readonly outgoing: OutgoingPolicy;
  /** Runs apart what handles the answers of others. */
  readonly isolation: Isolation;
  /** What that runs in, and what else needs much memory for a while. */
  readonly processes: Processes;
  readonly runs: DocCollection<RunRecord>;
  readonly runRoom: RunRoom;
  /** What the run room counts. */
  readonly countedRuns: RunRoomParts;
  readonly steps: DocCollection<StepRecord>;
  /** What runs that have not ended may do. */
  readonly rights: DocCollection<RightsRecord>;
  /** Asks the traces service what a user's spans add up to; "" for everyone's. */
  readonly traceUsage: (userId: string) => Promise<MessageShape<typeof GetTraceUsageResponseSchema>>;
  /** Asks auth how many records of the audit are of a user; "" for everyone's. */
  readonly auditUsage: (userId: string) => Promise<MessageShape<typeof GetAuditUsageResponseSchema>>;
  /** What is known of models: what they cost, and how much they read. */
  readonly models: ModelFacts;
  /** What models of runs write in this process. */
  readonly live: LiveTexts;
  /** What requests to models take on a day, and may take. */
  readonly spending: DocCollection<SpendingRecord>;
  readonly dayLimits: DayLimits;
  /** Tells the worker of this process, if there is one, that a run waits: it need not look for it. */
  readonly wakeWorker: () => void;
  readonly people: People;
  readonly audit: RecordAudit;
  /** What people should hear of. */
  readonly notices: Notices;
  readonly noticeRecords: DocCollection<NoticeRecord>;
  /** The tools of our own servers that agents can be given, as server/tool; not known where no runs are executed. */
  readonly toolNames?: ReadonlySet<string> | undefined;
  /** Tells every process that keeps what these users reach, by their ids or EVERYONE; resolved when all know. */
  readonly reachChanged: (users: readonly string[]) => Promise<void>;
  /**
   * The records of a kind, by its noun: how kinds reach each other without importing each other.
   *
   * @throws Error where there is no such kind.
   */
  collection<R extends ObjectRecord>(noun: string): DocCollection<R>;
}

/** A kind of object, as the rest of the service knows it: what the folder in `kinds/` makes of itself. */
export interface Kind {
  /** One of them in words, such as "agent": the kind's name. */
  readonly noun: string;
  /** Several of them in words. */
  readonly plural: string;
  readonly collection: CollectionSpec;
  /** The fields of a record that hold ids, or one id, of another kind: its noun by the field's name. */
  readonly references: Readonly<Record<string, string>>;
  /** How each of these references is taken away, in words that name a tool and its argument. */
  readonly detaching: Readonly<Record<string, string>>;
  /** A user with whom one is shared also needs the objects that it refers to. */
  readonly hasParts: boolean;
  readonly capabilities: readonly Capability[];
  routes(context: Context): readonly Method[];
  /** How what is secret of one is sealed again; absent where nothing of it is. */
  readonly reseal?: Reseal<ObjectRecord> | undefined;
  /** What becomes of one whose owner leaves. */
  readonly leaving: Leaving<ObjectRecord>;
  /** Reads what ships in `builtin/<plural>/`: one file or folder. Absent where nothing does. */
  readonly readBuiltin?: ((path: string) => Shipped<ObjectRecord>) | undefined;
}

/** What a caller can reach who may do `action` to at least one object of the kind. */
export interface Capability {
  /** As `(platform.v1.needs)` names it. */
  readonly name: string;
  readonly action: Action;
  /** Only enabled objects count. */
  readonly enabled?: true;
}

/** What a context needs besides its store and kinds. */
export interface Surroundings {
  readonly principals: Principals;
  readonly seal: Seal;
  readonly delegations: Delegations;
  readonly traceUsage: Context["traceUsage"];
  readonly auditUsage: Context["auditUsage"];
  readonly wakeWorker: () => void;
  readonly people: People;
  readonly audit: RecordAudit;
  readonly reachChanged: Context["reachChanged"];
  readonly toolNames?: Context["toolNames"];
  /** NO_FACTS if left out. */
  readonly models?: ModelFacts | undefined;
  /** NO_LIMITS if left out. */
  readonly dayLimits?: DayLimits | undefined;
  /** Made here if left out. */
  readonly processes?: Processes | undefined;
  /** PUBLIC_ONLY if left out. */
  readonly outgoing?: OutgoingPolicy | undefined;
  /** Hears that no notice is kept any more; left out where nobody receives any. */
  readonly noticesFull?: (() => void) | undefined;
  /** Hears which addresses were not called, and why. */
  readonly closedAddress?: (refused: ClosedAddress) => void;
  /** In place of what OBJECT_QUOTA says. */
  readonly quota?: Partial<ObjectQuota> | undefined;
  readonly knowledge?: KnowledgeOptions | undefined;
}

/**
 * Opens the kinds' collections, creating what is missing, and counts what nobody has counted.
 *
 * @throws Error for a reference to a kind that there is not.
 */
export async function openContext(
  store: Store,
  kinds: readonly Kind[],
  {
    quota,
    outgoing = PUBLIC_ONLY,
    processes = createProcesses(),
    knowledge: options,
    models = NO_FACTS,
    dayLimits = NO_LIMITS,
    closedAddress,
    noticesFull,
    ...around
  }: Surroundings,
): Promise<Context> {
  await store.ensure([
    ...kinds.map((kind) => kind.collection),
    ROOM_COLLECTION,
    RUNS,
    STEPS,
    RUN_ROOM,
    RIGHTS,
    NOTICES,
    SPENDING,
  ]);
  const collections = new Map(kinds.map((kind) => [kind.noun, store.collection(kind.collection.name)]));
  const collection = <R extends ObjectRecord>(noun: string): DocCollection<R> => {
    const found = collections.get(noun);
    if (found === undefined)
      throw new Error(`there is no kind ${noun}; there are ${[...collections.keys()].join(", ")}`);
    return found as unknown as DocCollection<R>;
  };
  for (const { references } of kinds) Object.values(references).forEach(collection);
  const rooms = store.collection<RoomRecord>(ROOM_COLLECTION.name);
  const [runs, steps] = [store.collection<RunRecord>(RUNS.name), store.collection<StepRecord>(STEPS.name)];
  const allowed = { ...OBJECT_QUOTA, ...quota };
  const [isolation, room] = [createIsolation(processes, undefined, closedAddress), createRoom(rooms, allowed)];
  const knowledge = await openKnowledge(
    store,
    {
      ...{ seal: around.seal, principals: around.principals, integrations: collection("integration") },
      ...{ outgoing, isolation, processes },
      leaveOut: (id, error) => leaveOut({ collection, room }, "integration", id, error, error.message),
    },
    options,
  );
  const objects = [...collections.values()] as unknown as DocCollection<ObjectRecord>[];
  const counted = {
    rooms,
    objects,
    documents: knowledge.documents,
    blocks: knowledge.blocks,
    sources: knowledge.sources,
  };
  await countRoom(counted);
  const runParts = { rooms: store.collection<RunRoomRecord>(RUN_ROOM.name), runs, steps };
  await countRuns(runParts);
  const noticeRecords = store.collection<NoticeRecord>(NOTICES.name);
  return {
    kinds,
    ...around,
    notices: noticesFull === undefined ? NO_NOTICES : createNotices(noticeRecords, noticesFull),
    noticeRecords,
    outgoing,
    models,
    live: new LiveTexts(),
    spending: store.collection<SpendingRecord>(SPENDING.name),
    dayLimits,
    isolation,
    processes,
    knowledge,
    room,
    runRoom: createRunRoom(runParts, allowed),
    countedRuns: runParts,
    counted,
    runs,
    steps,
    rights: store.collection<RightsRecord>(RIGHTS.name),
    collection,
  };
}
