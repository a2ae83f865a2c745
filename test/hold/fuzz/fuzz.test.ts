import { expect, test } from "vitest";
import { fuzzGrpcFrames } from "./grpc-frames.js";
import { fuzzJsonRpc } from "./json-rpc.js";
import { fuzzPlatformAnswers } from "./platform-answers.js";
import { fuzz } from "./run.js";

// The bounded form of `npm run test:fuzz`: a fixed seed, and what holds whatever
// else the machine does. Stalls and memory are measured there.

test.each([
  ["JSON-RPC", fuzzJsonRpc],
  ["gRPC frames", fuzzGrpcFrames],
  ["platform answers", fuzzPlatformAnswers],
] as const)("no input is a fault of ours: %s", { timeout: 240_000 }, async (_name, start) => {
  const target = await start();
  try {
    const { problems, inputs } = await fuzz(target, { inputs: 1_500, seed: 8, atOnce: 8 });
    expect(problems).toEqual([]);
    expect(inputs).toBe(1_500);
  } finally {
    await target.close();
  }
});
