import { Writable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLog, MAX_FIELD, MAX_LINE } from "../../../../services/shared/process/log.js";
import { notFound } from "../../../../services/shared/rpc/errors.js";

function linesOf(write: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  write(createLog("info", destination));
  return lines;
}

test("an id of 4 MB makes a short line, which says that it is cut", () => {
  const id = "\0".repeat(4 << 20);
  const [line] = linesOf((log) => log.error({ rpc: "auth.v1.X/Y", target: id, err: notFound(`no ${id}`) }, "failed"));
  expect(line!.length).toBeLessThanOrEqual(MAX_LINE + 1);
  expect(JSON.parse(line!)).toMatchObject({ rpc: "auth.v1.X/Y", msg: "failed", cut: expect.any(Number) });
});

test("a long field is cut and the rest of the line is whole", () => {
  const [line] = linesOf((log) => log.info({ caller: "u1", reasons: "x".repeat(10_000), args: ["a", "b"] }, "done"));
  const told = JSON.parse(line!) as { reasons: string };
  expect(told).toMatchObject({ caller: "u1", args: ["a", "b"], msg: "done" });
  expect(told.reasons).toContain("[cut: 10000 characters]");
  expect(told.reasons.length).toBeLessThan(MAX_FIELD + 40);
});

test("an error keeps its message, its cause and its stack", () => {
  const [line] = linesOf((log) => log.error({ err: notFound("none", new Error("why")) }, "failed"));
  const { err } = JSON.parse(line!) as { err: { message: string; stack: string } };
  expect(err.message).toContain("none");
  expect(err.stack).toContain("why");
});

test("credentials are redacted still", () => {
  const [line] = linesOf((log) => log.info({ token: "slp_1", call: { authorization: "Bearer slp_1" } }, "x"));
  expect(line).not.toContain("slp_1");
});

test("any fields make one line of JSON within the bound", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything({ withBigInt: false }), { maxKeys: 100 }), (fields) => {
      const lines = linesOf((log) => log.info(fields, "x"));
      expect(lines).toHaveLength(1);
      expect(lines[0]!.length).toBeLessThanOrEqual(MAX_LINE + 1);
      expect(() => JSON.parse(lines[0]!)).not.toThrow();
    }),
    { numRuns: 300, seed: 8 },
  );
});
