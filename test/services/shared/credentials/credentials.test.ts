import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { type Credentials, createCredentials } from "../../../../services/shared/credentials/credentials.js";
import { createKeyFormat } from "../../../../services/shared/credentials/format.js";
import type { Known } from "../../../../services/shared/credentials/known.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import type { Dispatch } from "../../../../services/shared/rpc/dispatch.js";
import { type Stack, startStack } from "../../auth/stack.js";

const LEASE_MS = 1_500;

let stack: Stack;
let credentials: Credentials;
/** Names of the rpcs that the credentials called. */
let asked: string[];
let admin: string;
let analyst: string;

beforeAll(async () => {
  stack = await startStack({ leaseMs: LEASE_MS });
  admin = stack.secrets.admin.apiKey;
  analyst = stack.secrets.analyst.apiKey;
});
afterAll(() => stack.close());
beforeEach(async () => {
  asked = [];
  const watched: Dispatch = {
    ...stack.dispatch,
    unary(method, request, out) {
      asked.push(method.name);
      return stack.dispatch.unary(method, request, out);
    },
  };
  credentials = createCredentials({
    dispatch: watched,
    credential: { authorization: `Bearer ${stack.secrets.serviceKey}` },
    log: silentLog,
  });
  await vi.waitFor(() => expect(credentials.leased()).toBe(true), { interval: 5, timeout: 10_000 });
});
afterEach(async () => {
  vi.useRealTimers();
  await credentials.close();
});

async function known(token: string): Promise<Known> {
  const answer = await credentials.verify(token);
  if ("refused" in answer) throw new Error(answer.refused);
  return answer;
}

async function newKey(): Promise<{ readonly id: string; readonly token: string }> {
  const { key, token } = await stack.as(analyst, ApiKeyService.method.createApiKey, { name: "Key" });
  return { id: key?.id as string, token };
}

const verifications = () => asked.filter((name) => name === "VerifyCredential").length;

describe("what is known", () => {
  test("is asked for once by all who come together, and then not at all", async () => {
    expect(credentials.peek(analyst)).toBeUndefined();
    const answers = await Promise.all(Array.from({ length: 50 }, () => known(analyst)));
    expect(new Set(answers.map(({ caller }) => caller.email))).toEqual(new Set(["analyst@example.org"]));
    expect(credentials.peek(analyst)?.caller.scopes).toContain("grc:write");
    await known(analyst);
    expect(verifications()).toBe(1);
  });

  test("carries an assertion for each service", async () => {
    const { assertions, expiresAt } = await known(analyst);
    expect(Object.keys(assertions).toSorted()).toEqual([
      "auth",
      "catalogue",
      "core-objects",
      "platform-proxy",
      "traces",
    ]);
    expect(expiresAt - Date.now()).toBeGreaterThan(290_000);
  });

  test("is dropped with its user's change, so that the next request sees it", async () => {
    const { caller } = await known(analyst);
    expect(caller.groups).toHaveLength(1);
    const { groups } = await stack.as(admin, GroupService.method.listGroups, {});
    await stack.as(admin, GroupService.method.deleteGroup, { id: groups[0]?.id as string });
    expect(credentials.peek(analyst)).toBeUndefined();
    expect((await known(analyst)).caller.groups).toEqual([]);
  });

  test("is renewed in the background before its assertions run out", async () => {
    const before = await known(analyst);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 260_000 });
    // A jump of the wall clock ends the lease; the next renewal gives one by the new time.
    await vi.waitFor(() => expect(credentials.leased()).toBe(true), { interval: 5, timeout: 10_000 });
    expect(credentials.peek(analyst)).toBe(before);
    await vi.waitFor(() => expect(credentials.peek(analyst)).not.toBe(before), { interval: 5, timeout: 10_000 });
    expect((credentials.peek(analyst) as Known).expiresAt).toBeGreaterThan(before.expiresAt + 200_000);
    expect(verifications()).toBe(2);
  });

  test("is not used after its assertions have run out", async () => {
    await known(analyst);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 301_000 });
    await vi.waitFor(() => expect(credentials.leased()).toBe(true), { interval: 5, timeout: 10_000 });
    expect(credentials.peek(analyst)).toBeUndefined();
  });

  test("is not used while the wall clock says that the lease is over", async () => {
    await known(analyst);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LEASE_MS + 1 });
    expect(credentials.leased()).toBe(false);
    expect(credentials.peek(analyst)).toBeUndefined();
  });
});

describe("what is refused", () => {
  test("malformed tokens are refused without asking", async () => {
    expect(await credentials.verify("slp_x")).toEqual({ refused: "malformed" });
    expect(await credentials.verify(`${analyst}x`)).toEqual({ refused: "malformed" });
    expect(verifications()).toBe(0);
  });

  test("a stranger is asked about once in five seconds", async () => {
    const { token } = createKeyFormat("slp_").mint();
    for (let i = 0; i < 10; i++) expect(await credentials.verify(token)).toEqual({ refused: "unknown" });
    expect(verifications()).toBe(1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_001 });
    expect(await credentials.verify(token)).toEqual({ refused: "unknown" });
    expect(verifications()).toBe(2);
  });

  test("a user who is enabled again is not refused by memory", async () => {
    const { user } = await stack.as(admin, UserService.method.getUser, { email: "analyst@example.org" });
    const id = user?.id as string;
    await stack.as(admin, UserService.method.updateUser, { id, disabled: true });
    expect(await credentials.verify(analyst)).toEqual({ refused: "disabled" });
    await stack.as(admin, UserService.method.updateUser, { id, disabled: false });
    expect((await known(analyst)).caller.id).toBe(id);
  });

  test("a revoked key is refused from memory, without asking", async () => {
    const { id, token } = await newKey();
    await known(token);
    await stack.as(admin, ApiKeyService.method.revokeApiKey, { id });
    expect(credentials.peek(token)).toBeUndefined();
    expect(await credentials.verify(token)).toEqual({ refused: "revoked" });
    expect(verifications()).toBe(1);
  });
});

describe("what is held open", () => {
  test("is killed by the revocation of its key alone, and not after it was released", async () => {
    const { id, token } = await newKey();
    const killed: string[] = [];
    credentials.hold(await known(token), (ended) => killed.push(ended));
    credentials.hold(await known(analyst), () => killed.push("another key"));
    credentials.hold(await known(token), () => killed.push("released"))();
    await stack.as(admin, ApiKeyService.method.revokeApiKey, { id });
    expect(killed).toEqual(["revoked"]);
  });

  test("is killed although the revocation came between the answer and the hold", async () => {
    const { id, token } = await newKey();
    const answer = await known(token);
    await stack.as(admin, ApiKeyService.method.revokeApiKey, { id });
    expect(await new Promise((resolve) => credentials.hold(answer, resolve))).toBe("revoked");
    expect(credentials.isRevoked(answer)).toBe(true);
  });

  test("is not called revoked where its user changed", async () => {
    const answer = await known(analyst);
    const ended = new Promise((resolve) => credentials.hold(answer, resolve));
    await stack.as(admin, UserService.method.updateUser, { id: answer.caller.id, name: "Another Name" });
    expect(await ended).toBe("unavailable");
    expect(credentials.isRevoked(answer)).toBe(false);
  });
});

describe("what changes", () => {
  test("is acknowledged only after every listener is done", async () => {
    const order: string[] = [];
    let finish: (() => void) | undefined;
    const remove = credentials.onEvent(async ({ kind, id }) => {
      order.push(`heard ${kind} ${id}`);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      order.push("applied");
    });
    const out = { credential: { authorization: `Bearer ${stack.secrets.serviceKey}` } };
    const event = { kind: EventKind.SETTING, id: "core" };
    const published = stack.dispatch.unary(WatchService.method.publish, event, out).then((answer) => {
      order.push("published");
      return answer;
    });
    await vi.waitFor(() => expect(finish).toBeDefined(), { interval: 5, timeout: 10_000 });
    finish?.();
    expect((await published).acknowledged).toBe(1);
    expect(order).toEqual(["heard setting core", "applied", "published"]);
    remove();
  });

  test("comes again where a listener failed", async () => {
    let heard = 0;
    credentials.onEvent(() => {
      heard++;
      if (heard === 1) throw new Error("not this time");
    });
    const out = { credential: { authorization: `Bearer ${stack.secrets.serviceKey}` } };
    await stack.dispatch.unary(WatchService.method.publish, { kind: EventKind.PLATFORM, id: "cti" }, out);
    await vi.waitFor(() => expect(heard).toBe(2), { interval: 5, timeout: 10_000 });
  });

  test("a listener that hangs costs the lease and nobody else's time", async () => {
    credentials.onEvent(() => new Promise(() => undefined));
    const out = { credential: { authorization: `Bearer ${stack.secrets.serviceKey}` } };
    const event = { kind: EventKind.SETTING, id: "core" };
    const { acknowledged, expired } = await stack.dispatch.unary(WatchService.method.publish, event, out);
    expect([acknowledged, expired]).toEqual([0, 1]);
    expect(credentials.leased()).toBe(false);
  });
});

test("uses are reported in one call and written down", async () => {
  const { id, token } = await newKey();
  await known(token);
  for (let i = 0; i < 99; i++) credentials.peek(token);
  await credentials.close();
  expect(asked.filter((name) => name === CredentialService.method.reportUsage.name)).toHaveLength(1);
  const record = await stack.records.keys.findOne({ _id: id });
  expect(record?.uses).toBe(100);
  expect(Date.now() - (record?.last_used_at?.getTime() ?? 0)).toBeLessThan(10_000);
});
