import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { type GetPlatformTargetResponseSchema, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { createContext, openSession } from "../../../services/platform-proxy/context.js";
import { createHttpClient, type HttpClient } from "../../../services/platform-proxy/lib/http.js";
import { PlatformSlots } from "../../../services/platform-proxy/platform-slots.js";
import { platform } from "../../../services/platform-proxy/platforms/cti/platform.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { createPeers, type Peers } from "../../../services/shared/rpc/peers.js";
import { LOOPBACK } from "../../support/outgoing.js";
import { type Stack, startStack } from "../auth/stack.js";

// A platform that is moved while a call is in flight: no token for its new address reaches the old one.

const MOVED = "https://moved.example.org";

let stack: Stack;
let peers: Peers | undefined;
let http: HttpClient;
let target: MessageInitShape<typeof GetPlatformTargetResponseSchema>;
/** The audiences of the tokens that the old address was sent. */
let audiences: unknown[];
let onAsked: () => void;
/** Does not take the first token it is sent: the proxy asks for a fresh one then. */
const old = createServer((request, response) => {
  audiences.push(decodeJwt((request.headers.authorization as string).slice("Bearer ".length)).aud);
  request.resume().on("end", () => {
    onAsked();
    const errors = [{ message: "You must be logged in", extensions: { code: "AUTH_REQUIRED" } }];
    response.setHeader("content-type", "application/json").end(JSON.stringify({ errors, data: null }));
  });
});

beforeEach(async () => {
  audiences = [];
  onAsked = () => undefined;
  await once(old.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
  target = { registered: true, url, publicUrl: url, auth: "bearer" };
  http = createHttpClient("test/1.0", LOOPBACK);
  stack = await startStack({ peersOf: () => peers });
  const catalogue = mountInProcess([unary(SettingService.method.getPlatformTarget, () => target)], stack.steps);
  const dispatch: Dispatch = {
    ...stack.dispatch,
    unary: (method, request, out) =>
      (method.parent.typeName.startsWith("catalogue.") ? catalogue : stack.dispatch).unary(method, request, out),
  };
  peers = createPeers(dispatch, { authorization: `Bearer ${stack.secrets.serviceKey}` });
});
afterEach(async () => {
  await http.close();
  await stack.close();
  old.close();
  old.closeAllConnections();
});

/** The first exchange of a call of the analyst with the platform. */
async function ask() {
  const { apiKey } = stack.secrets.analyst;
  const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, {
    token: apiKey,
  });
  if (outcome.case !== "verified") throw new Error("refused");
  const assertion = outcome.value.assertions["platform-proxy"] as string;
  const { caller } = await stack.service.authenticator.authenticate({ authorization: `Bearer ${apiKey}` });
  const call = { credential: { assertion }, signal: new AbortController().signal, caller, assertion };
  const slots = new PlatformSlots({ perPlatform: 10, perKey: 10 });
  const context = createContext({ platforms: [], http, slots, peers: peers as Peers });
  const session = await openSession(context, "cti", "test", call);
  return platform.createAdapter().whoAmI(session);
}

test("a call that asks the old address again after the move is told to repeat, and sends it nothing more", async () => {
  const url = target.url as string;
  onAsked = () => {
    target = { registered: true, url: MOVED, publicUrl: MOVED, auth: "bearer" };
  };
  await expect(ask()).rejects.toMatchObject({
    code: Code.Aborted,
    rawMessage: expect.stringContaining("changed during the call"),
  });
  expect(audiences).toEqual([url]);
});

test("a call at a platform that stays asks again with a fresh token for the same address", async () => {
  await expect(ask()).rejects.toThrow();
  expect(audiences).toEqual([target.url, target.url]);
});
