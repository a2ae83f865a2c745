import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CERTIFICATE,
  otlpReceiver,
  syslogReceiver,
  type TestReceiver,
} from "../services/auth/audit-export/receivers.js";
import { call } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Receivers of the audit that are away while clients write: RECEIVER_AWAY_SECONDS=600 for ten minutes.

const AWAY_MS = Number(process.env.RECEIVER_AWAY_SECONDS ?? 20) * 1_000;
/** A receiver that comes back is tried after 30 seconds at most; then there is much to send. */
const CATCH_UP_MS = 60_000 + AWAY_MS / 4;
const CLIENTS = 4;
/** Between two writes of a client, in milliseconds. */
const PAUSE_MS = 30;

let folder: string;
let program: Program;
let otlp: TestReceiver;
let syslog: TestReceiver;
let isBusy = false;

const openOtlp = (port = 0): Promise<TestReceiver> =>
  otlpReceiver(port, () => (isBusy ? [503, "busy"] : [200, '{"partialSuccess":{}}']));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "away-"));
  [otlp, syslog] = await Promise.all([openOtlp(), syslogReceiver()]);
  const receivers = [
    `http://127.0.0.1:${otlp.port}/v1/logs`,
    `tls://localhost:${syslog.port}/?ca=${encodeURIComponent(CERTIFICATE)}`,
    `file://${join(folder, "audit.jsonl")}`,
  ];
  const env = { AUDIT_RECEIVERS: receivers.join(","), LOG_LEVEL: "warn" };
  program = await startProgram({ env });
});
afterAll(async () => {
  await program?.stop();
  await Promise.all([otlp?.close(), syslog?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const inFile = (): number[] =>
  readFileSync(join(folder, "audit.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { number: number }).number);
/** What is not in its place, among numbers that are each one more than the one before. */
const misplaced = (numbers: readonly number[]): number | undefined => numbers.find((number, i) => number !== i + 1);

test(
  `receivers that are away for ${AWAY_MS / 1_000} s while clients write have each record once`,
  async () => {
    const core = `${program.baseUrl}/mcp/core`;
    const key = program.bootstrap.analyst.api_key;
    let isOver = false;
    let writes = 0;
    const client = async (n: number): Promise<void> => {
      const made = await call<{ agent: { id: string } }>(core, key, "create_agent", {
        ...{ name: `Writer ${n}`, instructions: "Write." },
      });
      for (writes++; !isOver; writes++) {
        await call(core, key, "update_agent", { agent_id: made.agent.id, description: `${n} ${writes}` });
        await sleep(PAUSE_MS);
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, n) => client(n));
    await expect
      .poll(() => Math.min(otlp.numbers.length, syslog.numbers.length), { timeout: 30_000 })
      .toBeGreaterThan(20);

    // One does not listen at all; the other does for the second half of the time, and refuses.
    const before = [otlp, syslog].map(({ numbers }) => [...numbers]);
    const ports = [otlp.port, syslog.port] as const;
    await Promise.all([otlp.close(), syslog.close()]);
    await sleep(AWAY_MS / 2);
    isBusy = true;
    otlp = await openOtlp(ports[0]);
    await sleep(AWAY_MS / 2);
    isBusy = false;
    syslog = await syslogReceiver(ports[1]);
    const missed = writes;
    // It goes on for a while: the receivers catch up although more comes.
    await sleep(5_000);
    isOver = true;
    await Promise.all(clients);

    const all = (): number[][] => [[...before[0]!, ...otlp.numbers], [...before[1]!, ...syslog.numbers], inFile()];
    const begun = performance.now();
    await expect
      .poll(() => Math.min(...all().map(({ length }) => length)), { timeout: CATCH_UP_MS, interval: 500 })
      .toBeGreaterThanOrEqual(writes);
    await expect.poll(() => new Set(all().map(({ length }) => length)).size, { timeout: 10_000 }).toBe(1);
    const caughtUp = Math.round((performance.now() - begun) / 100) / 10;
    process.stdout.write(
      `${writes} writes, ${missed} when the receivers were back; all there ${caughtUp} s after the last\n`,
    );
    expect(all().map(misplaced)).toEqual([undefined, undefined, undefined]);
  },
  AWAY_MS + CATCH_UP_MS + 60_000,
);
