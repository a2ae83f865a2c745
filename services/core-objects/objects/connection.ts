import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ConnectionState } from "#proto/core/v1/connection_pb.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { ObjectRecord } from "../record.js";
import { bytesOf, type Room, takenBy } from "../room.js";

/** How a test of what an object leads to went. */
export interface ConnectionRecord {
  readonly answered: boolean;
  /** Why it did not answer, or what is missing there; "" for nothing. */
  readonly error: string;
  readonly tested_at: Date;
  /** What it leads to misbehaved, and is not asked for a while; absent where it did not. */
  readonly left_out?: LeftOutRecord;
}

/** How long something is not asked. */
export interface LeftOutRecord {
  readonly until: Date;
  /** How often it misbehaved lately. */
  readonly times: number;
}

/** An object that leads to something that can be tested. */
export interface Connecting extends ObjectRecord {
  /** null, or absent of one that is older than tests, where it was not tested since it leads there. */
  readonly connection?: ConnectionRecord | null;
}

/** A test says so much for a day. */
const FRESH_MS = 86_400_000;

/** The members that show how the last test went. */
export function connectionOf({ connection }: Connecting) {
  if (connection === null || connection === undefined)
    return { connection: undefined, connectionError: undefined, testedAt: undefined };
  const { error, tested_at, left_out } = connection;
  const until = left_out === undefined || left_out.until < new Date() ? "" : left_out.until.toISOString();
  return {
    connection: stateOf(connection),
    connectionError: error === "" ? undefined : `${error}${until === "" ? "" : `; it is not used until ${until}`}`,
    testedAt: timestampFromDate(tested_at),
  };
}

/** The word of the API for how the last test went. */
export function stateOf({ answered, tested_at }: ConnectionRecord, now = Date.now()): ConnectionState {
  if (!answered) return ConnectionState.DISCONNECTED;
  return now - tested_at.getTime() < FRESH_MS ? ConnectionState.CONNECTED : ConnectionState.STALE;
}

/** An object that arrives at a new owner without its secret: disabled, and its connection says why. */
export function withoutSecret<Secret extends object>(secret: Secret, note: string) {
  const connection: ConnectionRecord = { answered: false, error: `handed over: ${note}`, tested_at: new Date() };
  return { changes: { ...secret, enabled: false, connection }, notes: [note] };
}

/** What records of connections are kept with. */
export interface Records {
  readonly room: Room;
  collection<R extends ObjectRecord>(noun: string): DocCollection<R>;
}

/** Keeps how a test went, unless the object was changed meanwhile. It is no change of the object: its etag stays. */
export async function keepConnection(
  { collection, room }: Records,
  noun: string,
  record: Connecting,
  connection: ConnectionRecord,
): Promise<void> {
  const taken = bytesOf({ ...record, connection } as ObjectRecord);
  const grows = taken - takenBy(record);
  await room.take(record.owner, 0, grows);
  const { matchedCount } = await collection<Connecting>(noun).updateOne(
    // Two tests at the same time are counted once.
    { _id: record._id, etag: record.etag, ...(record.taken !== undefined && { taken: record.taken }) },
    { $set: { connection, taken } },
  );
  if (matchedCount === 0) await room.take(record.owner, 0, -grows);
}
