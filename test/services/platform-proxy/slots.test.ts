import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AccountService } from "#proto/cti/v1/account_service_pb.js";
import { unary } from "../../../services/platform-proxy/binding.js";
import { type Harness, startHarness } from "../../support/platforms/harness.js";

// A platform that hangs: it keeps its own slots, and lets go of them.

let harness: Harness;
let hanging: number;

beforeEach(async () => {
  hanging = 0;
  const adapter = {
    server: "cti" as const,
    whoAmI: async () => ({ email: "", me: {} }),
    snapshot: async () => ({ version: "1", edition: "", capabilities: [] }),
    probe: async () => undefined,
  };
  const hang = unary(AccountService.method.whoami, (_request, { signal }) => {
    hanging++;
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        hanging--;
        reject(new ConnectError("gone", Code.Canceled));
      });
    });
  });
  harness = await startHarness(async () => ({
    started: {},
    setup: {
      platform: { adapter, bindings: [hang] },
      as: "ana",
      url: "http://127.0.0.1:1",
      slots: { perPlatform: 3, perKey: 2 },
    },
  }));
});
afterEach(() => harness.close());

const call = (as: string, signal?: AbortSignal) =>
  harness.call(AccountService.method.whoami, {}, as, signal).then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );

test("calls at a platform that hangs are bounded, of a key and in all, and come free again", async () => {
  const leave = new AbortController();
  const waiting = [call("ana", leave.signal), call("ana", leave.signal)];
  await expect.poll(() => hanging).toBe(2);
  expect(await call("ana")).toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage:
      "2 calls with this API key are running at the cti platform, which is the limit: call again when one has ended",
  });
  waiting.push(call("ben", leave.signal));
  await expect.poll(() => hanging).toBe(3);
  expect(await call("cem")).toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining("3 calls are running"),
  });
  leave.abort();
  expect((await Promise.all(waiting)).map((error) => error?.code)).toEqual(Array(3).fill(Code.Canceled));
  const again = new AbortController();
  const after = call("cem", again.signal);
  await expect.poll(() => hanging).toBe(1);
  again.abort();
  expect((await after)?.code).toBe(Code.Canceled);
});
