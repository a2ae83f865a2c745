import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { openKeyRing } from "../../../services/auth/key-ring.js";
import { recordGrant } from "../../../services/auth/oauth/grants.js";
import { createAuthService } from "../../../services/auth/service.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { RpcServer } from "../../../services/shared/rpc/connect.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { bundled } from "../../support/bundled.js";
import { SEAL, type Stack, serve, startStack } from "./stack.js";
import type { Order, Report } from "./watcher-process.js";

const PROCESSES = 6;
const LEASE_MS = 1_500;

let stack: Stack;
let server: RpcServer;
let watchers: Watcher[];

/** What is revoked: whatever a client calls with. */
const KINDS: Readonly<Record<string, () => Promise<{ readonly id: string; readonly token: string }>>> = {
  async "an API key"() {
    const { key, token } = await stack.as(stack.secrets.analyst.apiKey, ApiKeyService.method.createApiKey, {
      name: "In use",
    });
    return { id: key?.id as string, token };
  },
  async "the grant of an access token"() {
    const user = await stack.records.users.findOne({ login: "analyst@example.org" });
    const ring = await openKeyRing(stack.records, "access", { leadMs: 1e9, graceMs: 1e9, rotateMs: 1e12, seal: SEAL });
    const id = randomUUID();
    const resource = "https://sallyport.example/mcp/cti";
    await recordGrant(
      { store: stack.records },
      {
        ...{ _id: id, user_id: user?._id as string, client_id: "client", client_name: "Client", client_host: "" },
        ...{ redirect: "http://127.0.0.1", resource, server: "cti", scopes: ["cti:read"] },
        expires_at: new Date(Date.now() + 3_600_000),
      },
    );
    const { kid, key } = await ring.signer();
    const token = await new SignJWT({ gid: id, client_id: "client", scope: "cti:read" })
      .setProtectedHeader({ alg: "EdDSA", typ: "at+jwt", kid })
      .setIssuer("https://sallyport.example")
      .setAudience(resource)
      .setSubject(user?._id as string)
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime("10m")
      .sign(key);
    return { id, token };
  },
};

interface Watcher {
  readonly child: ChildProcess;
  tell(order: Order): Promise<Report>;
}

async function startWatcher(): Promise<Watcher> {
  const script = await bundled(new URL("./watcher-process.ts", import.meta.url));
  const child = fork(script, [`http://127.0.0.1:${server.port}`, stack.secrets.serviceKey], { execArgv: [] });
  return {
    child,
    async tell(order) {
      const answer = once(child, "message");
      child.send(order);
      return (await answer)[0] as Report;
    },
  };
}

describe.each(Object.entries(KINDS))("%s", (_kind, make) => {
  beforeAll(async () => {
    stack = await startStack({ leaseMs: LEASE_MS });
    server = await serve(stack);
    watchers = await Promise.all(Array.from({ length: PROCESSES }, startWatcher));
    await allReport((report) => report.leased);
  });

  afterAll(async () => {
    for (const { child } of watchers) child.kill("SIGKILL");
    await server.close(0);
    await stack.close();
  });

  /** Waits until every watcher's report satisfies the condition. */
  async function allReport(condition: (report: Report) => boolean, among = watchers): Promise<void> {
    await vi.waitFor(
      async () => {
        const reports = await Promise.all(among.map((watcher) => watcher.tell({ report: true })));
        expect(reports.filter((report) => !condition(report))).toEqual([]);
      },
      { timeout: 20_000, interval: 20 },
    );
  }

  /** A new credential that every watcher accepts from its cache. */
  async function inUse(among = watchers): Promise<{ readonly id: string; readonly token: string }> {
    const made = await make();
    await Promise.all(among.map((watcher) => watcher.tell({ present: made.token })));
    await allReport(({ accepted, leased }) => accepted >= 20 && leased, among);
    return made;
  }

  async function revoke(id: string) {
    const begun = performance.now();
    const answer = await stack.as(stack.secrets.admin.apiKey, ConnectionService.method.endConnection, { id });
    const returned = process.hrtime.bigint();
    return { ...answer, returned, ms: performance.now() - begun };
  }

  /** Accepted nothing that began after the moment, although it was presented. */
  async function expectRefusedSince(moment: bigint, among = watchers): Promise<void> {
    await allReport(({ lastOutcome }) => lastOutcome === "revoked", among);
    const reports = await Promise.all(among.map((watcher) => watcher.tell({ report: true })));
    expect(reports.filter(({ lastAcceptedBegan }) => BigInt(lastAcceptedBegan) > moment)).toEqual([]);
  }

  test("after a revocation has returned, no process accepts a request that begins, and open responses are cut", async () => {
    const { id } = await inUse();
    await Promise.all(watchers.map((watcher) => watcher.tell({ hold: true })));
    const { returned, acknowledged, expired, ms } = await revoke(id);
    expect([acknowledged, expired]).toEqual([PROCESSES, 0]);
    expect(ms).toBeLessThan(LEASE_MS);
    await expectRefusedSince(returned);
    await allReport(({ held }) => held === "killed");
  });

  test("what a disabled user has is dead in every process, and alive again with the user", async () => {
    const { token } = await inUse();
    const { user } = await stack.as(stack.secrets.admin.apiKey, UserService.method.getUser, {
      email: "analyst@example.org",
    });
    const id = user?.id as string;
    await stack.as(stack.secrets.admin.apiKey, UserService.method.updateUser, { id, disabled: true });
    const returned = process.hrtime.bigint();
    await allReport(({ lastOutcome }) => lastOutcome === "disabled");
    const reports = await Promise.all(watchers.map((watcher) => watcher.tell({ report: true })));
    expect(reports.filter(({ lastAcceptedBegan }) => BigInt(lastAcceptedBegan) > returned)).toEqual([]);
    await stack.as(stack.secrets.admin.apiKey, UserService.method.updateUser, { id, disabled: false });
    await Promise.all(watchers.map((watcher) => watcher.tell({ present: token })));
    await allReport(({ lastOutcome }) => lastOutcome === "accepted");
  });

  test("a revocation waits for the lease of a frozen process, which refuses when it wakes", async () => {
    const { id } = await inUse();
    const [frozen, ...others] = watchers as [Watcher, ...Watcher[]];
    frozen.child.kill("SIGSTOP");
    const { returned, acknowledged, expired, ms } = await revoke(id);
    frozen.child.kill("SIGCONT");
    expect([acknowledged, expired]).toEqual([PROCESSES - 1, 1]);
    expect(ms).toBeGreaterThan(LEASE_MS * 0.5);
    expect(ms).toBeLessThan(LEASE_MS * 1.1 + 2_000);
    await expectRefusedSince(returned, others);
    await expectRefusedSince(returned, [frozen]);
    await allReport(({ leased }) => leased);
  });

  test("a revocation waits for the lease of a killed process", async () => {
    const { id } = await inUse();
    const [killed, ...others] = watchers as [Watcher, ...Watcher[]];
    killed.child.kill("SIGKILL");
    await once(killed.child, "exit");
    const { returned, acknowledged, expired } = await revoke(id);
    expect([acknowledged, expired]).toEqual([PROCESSES - 1, 1]);
    watchers = others;
    await expectRefusedSince(returned);
  });

  test("without auth what is cached is accepted within the lease only, then nobody can say; what was missed is replayed", async () => {
    const { id } = await inUse();
    await Promise.all(watchers.map((watcher) => watcher.tell({ hold: true })));
    const { port } = server;
    await server.close(0);
    const gone = process.hrtime.bigint();
    await allReport(({ lastOutcome, held }) => lastOutcome === "unavailable" && held === "killed");
    const reports = await Promise.all(watchers.map((watcher) => watcher.tell({ report: true })));
    const late = gone + BigInt((LEASE_MS + 100) * 1e6);
    expect(reports.filter(({ lastAcceptedBegan }) => BigInt(lastAcceptedBegan) > late)).toEqual([]);

    const { acknowledged, returned } = await revoke(id);
    expect(acknowledged).toBe(0);
    server = await serve(stack, port);
    await allReport(({ leased }) => leased);
    await expectRefusedSince(returned);
  });

  test("a fresh auth process holds revocations back until leases of the one before have run out", async () => {
    const { id } = await inUse();
    const { port } = server;
    await server.close(0);
    const successor = await createAuthService({
      seal: SEAL,
      store: stack.store,
      baseUrl: "https://sallyport.example",
      log: silentLog,
      leaseMs: LEASE_MS,
    });
    const began = performance.now();
    const steps = { authenticator: successor.authenticator, log: silentLog };
    const dispatch = mountInProcess(successor.methods, steps);
    const credential = { authorization: `Bearer ${stack.secrets.admin.apiKey}` };
    await dispatch.unary(ConnectionService.method.endConnection, { id }, { credential });
    const returned = process.hrtime.bigint();
    expect(performance.now() - began).toBeGreaterThan(LEASE_MS);
    server = await serve({ service: successor, steps }, port);
    await allReport(({ leased }) => leased);
    await expectRefusedSince(returned);
    await successor.close();
  });
});
