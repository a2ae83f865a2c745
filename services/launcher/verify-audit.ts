import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { hashOf } from "../auth/audit-chain.js";
import type { ExportedRecord } from "../auth/audit-export/record.js";
import { auditIdOf } from "../auth/audit-record-doc.js";
import { ChainCheck, type ChainProblem } from "../auth/chain-check.js";

/** What the check of a file found. */
export interface FileCheck {
  readonly records: number;
  readonly missing: number;
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly problems: readonly ChainProblem[];
  readonly problem_count: number;
}

/**
 * Checks a file of JSON lines that the audit was sent to: each record against its own hash, and against the record
 * before it.
 *
 * @throws Error where a line is no record.
 */
export async function verifyAuditFile(path: string): Promise<FileCheck> {
  const check = new ChainCheck();
  let at = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const record = recordIn(line, ++at);
    if (ownHashOf(record) !== record.hash) check.report(record.number, "it is not what its hash says: it was changed");
    check.add(record);
  }
  const { records, missing, first, last, problems, problemCount } = check;
  return { records, missing, first, last: last?.number, problems, problem_count: problemCount };
}

function recordIn(line: string, at: number): ExportedRecord {
  try {
    const record = JSON.parse(line) as ExportedRecord;
    if (Number.isSafeInteger(record.number) && typeof record.hash === "string") return record;
  } catch {
    // Said below.
  }
  throw new Error(`line ${at} is no audit record`);
}

function ownHashOf({ number, recorded_at, begun, hash: _, ...record }: ExportedRecord): string {
  return hashOf({ ...record, _id: auditIdOf(BigInt(number)), ...(begun && { begun }) }, recorded_at);
}
