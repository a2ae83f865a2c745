import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { spanContextOf } from "../../../../services/shared/process/tracing.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test("a traceparent is read as W3C has it, later versions included", () => {
  const read = { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true };
  expect(spanContextOf(`00-${TRACE}-${SPAN}-01`)).toEqual(read);
  expect(spanContextOf(`00-${TRACE}-${SPAN}-00`)).toEqual({ ...read, traceFlags: 0 });
  expect(spanContextOf(`cc-${TRACE}-${SPAN}-03-what-comes-later`)).toEqual(read);
});

test("what is no traceparent has no context", () => {
  const zero = "0";
  for (const text of [
    undefined,
    "",
    "x",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${zero.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${zero.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
  ]) {
    expect(spanContextOf(text)).toBeUndefined();
  }
});

test("nothing of OpenTelemetry is loaded until tracing is on", () => {
  // In a process of its own: others in this one may have loaded it.
  const file = new URL("../../../../services/shared/process/tracing.ts", import.meta.url);
  const script = `
    import { createRequire } from "node:module";
    import { createTracing } from ${JSON.stringify(file.href)};
    const loaded = () => Object.keys(createRequire(${JSON.stringify(file.href)}).cache).some((path) => path.includes("@opentelemetry"));
    const options = { endpoint: "http://127.0.0.1:1", headers: {}, serviceName: "s", sampleRatio: 1 };
    const off = await createTracing({ ...options, enabled: false });
    const before = loaded();
    const on = await createTracing({ ...options, enabled: true });
    console.log(JSON.stringify([off === undefined, before, loaded()]));
    await on.close();`;
  const args = ["--import", "tsx", "--conditions=house:source", "--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stdout, stderr).toBe("[true,false,true]\n");
});
