import fc from "fast-check";
import { expect, test } from "vitest";
import { type CallLine, callLines } from "../../../../services/shared/process/call-lines.js";
import { createLog, type Log, MAX_LINE, silentLog } from "../../../../services/shared/process/log.js";

const RPC = "core.v1.AgentService/UpdateAgent";

function linesOf(level: string, write: (log: Log) => void): string[] {
  const lines: string[] = [];
  write(createLog(level, { write: (line) => void lines.push(line) }).child({ service: "core" }));
  return lines;
}

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.constantFrom('a "b" \\ c', "\n\u0000", ""));
const line: fc.Arbitrary<CallLine> = fc.record(
  {
    code: fc.constantFrom("ok", "not_found"),
    ms: fc.integer({ max: 1e6, min: 0 }).map((tenths) => tenths / 10),
    caller: fc.option(text, { nil: undefined }),
    key: fc.option(text, { nil: undefined }),
    account: fc.option(text, { nil: undefined }),
    trace: fc.option(text, { nil: undefined }),
    audit: fc.constant(true as const),
    args: fc.array(fc.stringMatching(/^[a-z_0-9]{1,40}$/), { maxLength: 5 }),
    target: text,
  },
  { requiredKeys: ["code", "ms"] },
);

test("the line of a call is the line that pino writes of the same fields", () => {
  fc.assert(
    fc.property(line, (one) => {
      const [own, pinos] = linesOf("info", (log) => {
        callLines(log, RPC, "info")(one);
        log.child({ rpc: RPC }, { redact: [] }).info(one, RPC);
      });
      const withoutTime = (written = ""): unknown[] => [written.endsWith("}\n"), { ...JSON.parse(written), time: 0 }];
      expect(withoutTime(own)).toEqual(withoutTime(pinos));
      expect(Math.abs(JSON.parse(own ?? "").time - Date.now())).toBeLessThan(60_000);
    }),
    { numRuns: 500 },
  );
});

test("only the lines of a level that is logged are written", () => {
  const call = { code: "ok", ms: 1 };
  expect(linesOf("info", (log) => callLines(log, RPC, "debug")(call))).toEqual([]);
  expect(linesOf("debug", (log) => callLines(log, RPC, "debug")(call))).toHaveLength(1);
  expect(linesOf("error", (log) => callLines(log, RPC, "info")(call))).toEqual([]);
  callLines(silentLog, RPC, "info")(call);
});

test("no line is longer than a line may be", () => {
  const [long] = linesOf("info", (log) =>
    callLines(log, RPC, "info")({ code: "ok", ms: 1, target: "t".repeat(MAX_LINE) }),
  );
  expect(long?.length).toBeLessThanOrEqual(MAX_LINE + 1);
  expect(JSON.parse(long ?? "")).toMatchObject({ service: "core", rpc: RPC, code: "ok", cut: expect.any(Number) });
});
