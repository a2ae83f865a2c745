import { ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import type { Platform } from "../../../services/platform-proxy/platform.js";
import { PlatformSlots } from "../../../services/platform-proxy/platform-slots.js";
import { toolMethods } from "../../../services/platform-proxy/tool-methods.js";
import type { Call } from "../../../services/shared/rpc/call.js";

// What a binding trips over: the platform's answer, or a defect of ours.

type Handle = (request: unknown, platform: Platform) => Promise<unknown>;

const EMPTY = async (): Promise<unknown> => ({ content: null });

async function failureOf(handle: Handle, signal = new AbortController().signal, answer = EMPTY): Promise<string> {
  const context = {
    platforms: [
      {
        adapter: { server: "aev", rest: answer, deniesRequest: () => false },
        bindings: [{ method: ScenarioService.method.getScenario, handle }],
      },
    ],
    slots: new PlatformSlots({ perPlatform: 1, perKey: 1 }),
    targets: { of: async () => ({ server: "aev", url: "http://127.0.0.1:1", publicUrl: "http://127.0.0.1:1" }) },
    identities: { me: async () => ({}) },
    users: new Map(),
  };
  const method = toolMethods(context as never)[0]!;
  const called = method.handle as (request: unknown, call: Call) => Promise<unknown>;
  return called({}, { caller: { id: "alice", keyId: "k" }, signal } as Call).then(
    () => "nothing",
    (error: unknown) => ConnectError.from(error).message,
  );
}

const rest = (platform: Platform): Promise<{ content: { id: string }[] }> =>
  platform.rest({ verb: "GET", path: "/api/scenarios/1", read: true });

test("an answer of another shape is told as the platform's", async () => {
  const told = await failureOf(async (_, platform) => (await rest(platform)).content.map(({ id }) => id));
  expect(told).toMatch(/^\[unavailable\] the aev platform answered with something that cannot be read/);
});

test("an answer that the adapter cannot read is told as the platform's, also if it is the first one", async () => {
  const unread = async (): Promise<unknown> => [{ toString: null }].join();
  const told = await failureOf((_, platform) => rest(platform), undefined, unread);
  expect(told).toMatch(/^\[unavailable\] the aev platform answered with something that cannot be read/);
});

test.each([
  ["before the platform has said anything", async () => (undefined as unknown as { a: number }).a],
  [
    "that is no misreading",
    async (_: unknown, platform: Platform) => {
      await rest(platform);
      throw new Error("an invariant of ours");
    },
  ],
] as const)("a failure %s is ours, and names nothing of it", async (_, handle) => {
  expect(await failureOf(handle as Handle)).toBe("[internal] the tool failed; the service's log says more");
});

test("what ends because the caller left is neither's", async () => {
  const leaving = new AbortController();
  const told = await failureOf(async () => {
    leaving.abort();
    throw leaving.signal.reason;
  }, leaving.signal);
  expect(told).toBe("[canceled] the call was cancelled");
});
