import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { RecordAuditRequestSchema } from "#proto/auth/v1/audit_service_pb.js";
import type { AuditEntry } from "./entry.js";

/** What auth is asked to write. */
export type AuditRequest = MessageInitShape<typeof RecordAuditRequestSchema>;

/** How long to wait before a record is sent again that its call waits for, in milliseconds. */
const AGAIN_MS = 250;

/**
 * Sends records under ids of their own. If the answer was lost, nobody knows whether they were written: they are sent
 * again under the same ids, with the number after which auth looks for them.
 */
export class AuditSender {
  readonly #send: (request: AuditRequest) => Promise<readonly bigint[]>;
  readonly #sender = randomBytes(9).toString("base64url");
  #made = 0;
  #known = 0n;

  constructor(send: (request: AuditRequest) => Promise<readonly bigint[]>) {
    this.#send = send;
  }

  /** The highest number that was given to a record so far: whatever is sent later gets a higher one. */
  get known(): bigint {
    return this.#known;
  }

  /** An id for a record. */
  nextId(): string {
    return `${this.#sender}${this.#made++}`;
  }

  /** @param repeatsAfter if some of the records were sent before: what `known` was then. */
  async send(request: AuditRequest, repeatsAfter?: bigint): Promise<readonly bigint[]> {
    const numbers = await this.#send(repeatsAfter === undefined ? request : { ...request, repeatsAfter });
    for (const number of numbers) if (number > this.#known) this.#known = number;
    return numbers;
  }

  /** Sends one record, and again for a while if auth cannot be reached; returns its number. */
  async sendOne(entry: AuditEntry, patienceMs: number): Promise<bigint | undefined> {
    const request = { records: [entry], sentIds: [this.nextId()] };
    const until = performance.now() + patienceMs;
    const before = this.#known;
    for (let tries = 0; ; tries++) {
      try {
        return (await this.send(request, tries > 0 ? before : undefined))[0];
      } catch (error) {
        if (!isAway(error) || performance.now() >= until) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }
}

/** Whether an error says that auth, or its store, cannot be reached now. */
function isAway(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.Unavailable || code === Code.DeadlineExceeded;
}
