import { once } from "node:events";
import { PassThrough } from "node:stream";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test, vi } from "vitest";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { Health } from "#proto/grpc/health/v1/health_pb.js";
import { ServerReflectionRequestSchema } from "#proto/grpc/reflection/v1/reflection_pb.js";
import { unauthenticated } from "../../../../../services/shared/rpc/errors.js";
import { liveBody, type NodeRequest } from "../../../../../services/shared/rpc/socket/body.js";
import { ANA, envelope, open, startRig } from "./support.js";

const UUID = "0191f2a0-0000-7000-8000-000000000000";
const headers = { authorization: "Bearer ana" };

test("an open stream ends when its credential is no longer good", async () => {
  let revoke: () => void = () => undefined;
  const rig = await startRig({
    hold: (_caller, kill) => {
      revoke = kill;
      return () => undefined;
    },
  });
  const client = createClient(ScenarioService, createGrpcTransport({ baseUrl: rig.url }));
  const replies = client.launchScenario({ scenarioId: UUID }, { headers })[Symbol.asyncIterator]();
  await replies.next();
  const end = replies.next().catch((error: unknown) => ConnectError.from(error));
  revoke();
  expect(await end).toMatchObject({ code: Code.Unauthenticated });
  await rig.server.close(0);
});

test("an open stream ends when its key expires", async () => {
  let isExpired = false;
  const rig = await startRig({
    authenticator: {
      authenticate() {
        if (isExpired) throw unauthenticated("the API key has expired: create a new one");
        isExpired = true;
        return { caller: ANA, assertion: "", expiresAt: Date.now() + 1 };
      },
    },
  });
  const client = createClient(ScenarioService, createGrpcTransport({ baseUrl: rig.url }));
  const replies = client.launchScenario({ scenarioId: UUID }, { headers })[Symbol.asyncIterator]();
  await replies.next();
  const end = await replies.next().catch((error: unknown) => ConnectError.from(error));
  expect(end).toMatchObject({ code: Code.Unauthenticated, rawMessage: expect.stringContaining("expired") });
  await rig.server.close(0);
});

test("a watch of health does not hold up the end of the server", async () => {
  const rig = await startRig();
  const client = createClient(Health, createGrpcTransport({ baseUrl: rig.url }));
  const replies = client.watch({})[Symbol.asyncIterator]();
  expect((await replies.next()).value).toMatchObject({ status: 1 });
  const end = replies.next();
  const begun = performance.now();
  const closed = rig.server.close(30_000);
  expect(await end).toMatchObject({ done: true });
  await closed;
  expect(performance.now() - begun).toBeLessThan(20_000);
});

test("a stream both ways whose answer nobody takes ends with its connection", async () => {
  const rig = await startRig();
  const session = open(rig.url, { initialWindowSize: 0 });
  const request = { ":method": "POST", ":path": REFLECTION, ...headers, "content-type": "application/grpc" };
  const stream = session.request(request).on("error", () => undefined);
  stream.end(
    envelope(toBinary(ServerReflectionRequestSchema, create(ServerReflectionRequestSchema, { host: "long" }))),
  );
  await once(stream, "response");
  expect(rig.seen).toMatchObject({ begun: ["reflection"], ended: [] });
  session.destroy();
  await vi.waitFor(() => expect(rig.seen.ended).toEqual(["reflection"]));
  await rig.server.close(0);
});

const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
test("a body that comes in pieces is not watched once its call has ended", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const request = new PassThrough();
  const body = liveBody(request as unknown as NodeRequest, 60_000, () => undefined)[Symbol.asyncIterator]();
  request.write("a piece");
  await body.next();
  expect(vi.getTimerCount()).toBe(1);
  request.destroy();
  await once(request, "close");
  expect(vi.getTimerCount()).toBe(0);
});
