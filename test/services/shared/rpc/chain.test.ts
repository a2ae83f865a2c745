import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { EndpointService, ListVisibleToolsRequestSchema } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { createShares } from "../../../../services/shared/limits/shares.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import type { Caller, Incoming } from "../../../../services/shared/rpc/call.js";
import { type Chain, chain } from "../../../../services/shared/rpc/chain.js";
import { unauthenticated } from "../../../../services/shared/rpc/errors.js";
import { duplex, unary } from "../../../../services/shared/rpc/method.js";

const ANA: Caller = {
  id: "u1",
  email: "ana@example.org",
  name: "Ana",
  admin: false,
  groups: [],
  scopes: new Set(["account", "internal"]),
  keyId: "k1",
  service: false,
};
const ONCE = { perSecond: 0.001, burst: 1 };
const VALID = { server: "cti" };

/** A call, and what refuses it: each breaks one step more. */
function incomingOf(credential: Incoming["credential"], deadline?: number): Incoming {
  return { credential, signal: new AbortController().signal, deadline };
}

function stepsOf(caller: Caller, isPending = false): Chain {
  return {
    log: silentLog,
    shares: createShares({ perKey: ONCE, perUser: ONCE }, () => 0),
    authenticator: {
      authenticate({ authorization, assertion }) {
        if (authorization === undefined && assertion === undefined) throw unauthenticated("present a credential");
        const who = { caller, assertion: "ana" };
        return isPending ? Promise.resolve(who) : who;
      },
    },
  };
}

const answer = unary(EndpointService.method.listVisibleTools, ({ server }) => ({ tools: [server], keepMs: 1 }));
const request = (fields: object) => create(ListVisibleToolsRequestSchema, fields);
const codeOf = async (run: () => unknown): Promise<Code | undefined> => {
  try {
    await run();
    return undefined;
  } catch (error) {
    return ConnectError.from(error).code;
  }
};

test("a call whose caller is known is answered without a promise, and refused so", () => {
  const run = chain(answer, stepsOf(ANA));
  expect(run(request(VALID), incomingOf({ assertion: "ana" }))).toEqual({ tools: ["cti"], keepMs: 1 });
  expect(() => run(request({}), incomingOf({ assertion: "ana" }))).toThrow(ConnectError);
});

test.each([false, true])(
  "the first refusal wins, in the order of the steps; the caller is asked for: %s",
  async (isPending) => {
    const stranger = { ...ANA, scopes: new Set<string>() };
    const [past, key] = [Date.now() - 1, { authorization: "Bearer ana" }];
    const [known, unknown] = [chain(answer, stepsOf(ANA, isPending)), chain(answer, stepsOf(stranger, isPending))];
    const codes = [
      await codeOf(() => unknown(request({}), incomingOf({}, past))),
      // It takes the only call of its share.
      await codeOf(() => unknown(request({}), incomingOf(key, past))),
      await codeOf(() => unknown(request({}), incomingOf(key, past))),
      await codeOf(() => known(request({}), incomingOf({ assertion: "ana" }, past))),
      await codeOf(() => known(request({}), incomingOf({ assertion: "ana" }))),
      await codeOf(() => known(request(VALID), incomingOf(key))),
    ];
    expect(codes).toEqual([
      Code.Unauthenticated,
      Code.PermissionDenied,
      Code.ResourceExhausted,
      Code.DeadlineExceeded,
      Code.InvalidArgument,
      undefined,
    ]);
  },
);

test("a counted call gives its share back, whether it ends well or not, and a stream that is never read takes none", async () => {
  const many = { perSecond: 1e6, burst: 1e6 };
  const steps = { ...stepsOf(ANA), shares: createShares({ perKey: many, perUser: many }) };
  const share = steps.shares.of(ANA);
  const seen: number[] = [];
  const run = chain(
    unary(EndpointService.method.listVisibleTools, () => {
      seen.push(share.active);
      throw new Error("broken");
    }),
    steps,
  );
  expect(await codeOf(() => run(request(VALID), incomingOf({ authorization: "Bearer ana" })))).toBe(Code.Unknown);
  expect([seen, share.active]).toEqual([[1], 0]);

  const watch = chain(
    duplex(WatchService.method.watch, async function* () {
      seen.push(share.active);
      yield {};
    }),
    steps,
  );
  const open = () =>
    watch((async function* () {})(), incomingOf({ authorization: "Bearer ana" })) as AsyncIterable<unknown>;
  open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(share.active).toBe(0);
  for await (const _one of open());
  expect([seen, share.active]).toEqual([[1, 1], 0]);
});
