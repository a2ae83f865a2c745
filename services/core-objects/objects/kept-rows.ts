import type { Message } from "@bufbuild/protobuf";
import type { Caller } from "../../shared/rpc/call.js";
import type { ObjectRecord } from "../record.js";

/**
 * Rows that were made of records that nobody can change, by who is shown them: a result that the store keeps gives the
 * same records again, and a row is made of its record and its reader alone. A row goes with its record or its reader.
 */
export class KeptRows {
  readonly #rows = new WeakMap<Caller, WeakMap<ObjectRecord, Message>>();

  get(caller: Caller, record: ObjectRecord): Message | undefined {
    return this.#rows.get(caller)?.get(record);
  }

  /** Keeps a row if its record is frozen. Nobody can change the row either: other answers have it too. */
  keep(caller: Caller, record: ObjectRecord, row: Message): void {
    if (!Object.isFrozen(record)) return;
    const rows = this.#rows.get(caller) ?? new WeakMap<ObjectRecord, Message>();
    this.#rows.set(caller, rows);
    rows.set(record, Object.freeze(row));
  }
}
