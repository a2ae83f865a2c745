import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { type BootstrapSecrets, bootstrap } from "../../../services/auth/bootstrap.js";
import { COLLECTIONS, openAuthStore } from "../../../services/auth/store.js";
import { connectRemote } from "../../../services/shared/rpc/remote.js";
import { openMongoStore } from "../../../services/shared/store/mongo.js";
import type { Store } from "../../../services/shared/store/store.js";
import { missing as noJava, startMongoJavaServer } from "../../support/mongo-java-server/server.js";
import { titled } from "../../support/titled.js";
import type { Order, Report } from "./watcher-process.js";

// Auth processes of their own on one MongoDB, the one that MONGODB_URI names or
// else an independent server of its protocol, and processes that accept
// credentials as façades do.

const LEASE_MS = 1_000;
/** The time after its last beat in which an auth process may give leases, and these run. */
const OVER_MS = (LEASE_MS / 3 + LEASE_MS * 1.1) * 1.1;
const FLAGS = { execArgv: ["--import", "tsx", "--conditions=house:source"] };
const missing = process.env.MONGODB_URI ? undefined : noJava;

interface AuthProcess {
  readonly child: ChildProcess;
  readonly port: number;
}

interface WatcherProcess {
  readonly child: ChildProcess;
  tell(order: Order): Promise<Report>;
}

describe.skipIf(missing)(titled("several auth processes on one MongoDB", missing), () => {
  const database = `several-${process.pid}`;
  let uri: string;
  let stopServer = (): void => undefined;
  let store: Store;
  let secrets: BootstrapSecrets;
  let a: AuthProcess;
  let b: AuthProcess;
  let watchers: WatcherProcess[];

  beforeAll(async () => {
    if (missing !== undefined) return;
    if (process.env.MONGODB_URI) uri = process.env.MONGODB_URI;
    else {
      const server = await startMongoJavaServer();
      uri = server.uri;
      stopServer = () => server.stop();
    }
    store = await openMongoStore(uri, { database });
    const people = { adminEmail: "admin@example.org", analystEmail: "analyst@example.org" };
    secrets = (await bootstrap({ store, ...people, keep: () => undefined })) as BootstrapSecrets;
    [a, b] = await Promise.all([startAuth(), startAuth()]);
    // Two that ask one of them first, and two that ask the other.
    watchers = [startWatcher(a, b), startWatcher(a, b), startWatcher(b, a), startWatcher(b, a)];
    await allReport(({ leased }) => leased);
  });

  afterAll(async () => {
    if (missing !== undefined) return;
    for (const { child } of [...watchers, a, b]) child.kill("SIGKILL");
    for (const { name } of COLLECTIONS) await store.collection(name).deleteMany({});
    await store.close();
    stopServer();
  });

  async function startAuth(port = 0): Promise<AuthProcess> {
    const script = new URL("./auth-process.ts", import.meta.url);
    const child = fork(script, [uri, database, String(LEASE_MS), String(port)], FLAGS);
    const [said] = await once(child, "message");
    return { child, port: said as number };
  }

  function startWatcher(...auths: AuthProcess[]): WatcherProcess {
    const urls = auths.map(({ port }) => `http://127.0.0.1:${port}`).join(",");
    const child = fork(new URL("./watcher-process.ts", import.meta.url), [urls, secrets.serviceKey], FLAGS);
    return {
      child,
      async tell(order) {
        const answer = once(child, "message");
        child.send(order);
        return (await answer)[0] as Report;
      },
    };
  }

  function at<I extends DescMessage, O extends DescMessage>(
    { port }: AuthProcess,
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    apiKey = secrets.admin.apiKey,
  ) {
    const dispatch = connectRemote({ auth: `http://127.0.0.1:${port}` });
    return dispatch.unary(method, request, { credential: { authorization: `Bearer ${apiKey}` } });
  }

  /** Waits until every watcher's report satisfies the condition. */
  async function allReport(condition: (report: Report) => boolean): Promise<void> {
    await vi.waitFor(
      async () => {
        const reports = await Promise.all(watchers.map((watcher) => watcher.tell({ report: true })));
        expect(reports.filter((report) => !condition(report))).toEqual([]);
      },
      { timeout: 20_000, interval: 20 },
    );
  }

  /** A new key that every watcher accepts from its cache. */
  async function keyInUse(made: AuthProcess): Promise<string> {
    const { key, token } = await at(
      made,
      ApiKeyService.method.createApiKey,
      { name: "In use" },
      secrets.analyst.apiKey,
    );
    await Promise.all(watchers.map((watcher) => watcher.tell({ present: token })));
    await allReport(({ accepted, leased }) => accepted >= 20 && leased);
    return key?.id as string;
  }

  async function revokeAt(auth: AuthProcess, id: string) {
    const begun = performance.now();
    const answer = await at(auth, ApiKeyService.method.revokeApiKey, { id });
    return { ...answer, returned: process.hrtime.bigint(), ms: performance.now() - begun };
  }

  /** Accepted nothing that began after the moment, although it was presented. */
  async function expectRefusedSince(moment: bigint): Promise<void> {
    await allReport(({ lastOutcome }) => lastOutcome === "revoked");
    const reports = await Promise.all(watchers.map((watcher) => watcher.tell({ report: true })));
    expect(reports.filter(({ lastAcceptedBegan }) => BigInt(lastAcceptedBegan) > moment)).toEqual([]);
  }

  test("a key that one has revoked is refused by the watchers of both, and their open responses are cut", async () => {
    for (const [made, ended] of [
      [a, b],
      [b, a],
    ] as const) {
      const id = await keyInUse(made);
      await Promise.all(watchers.map((watcher) => watcher.tell({ hold: true })));
      const { returned, acknowledged, expired, ms } = await revokeAt(ended, id);
      expect([acknowledged, expired]).toEqual([4, 0]);
      expect(ms).toBeLessThan(LEASE_MS);
      await expectRefusedSince(returned);
      await allReport(({ held }) => held === "killed");
    }
  });

  test("a user whom one disables is refused by the watchers of both; a switch is published to all of them", async () => {
    await keyInUse(a);
    const { user } = await at(a, UserService.method.getUser, { email: "analyst@example.org" });
    const id = user?.id as string;
    await at(b, UserService.method.updateUser, { id, disabled: true });
    const returned = process.hrtime.bigint();
    await allReport(({ lastOutcome }) => lastOutcome === "disabled");
    const reports = await Promise.all(watchers.map((watcher) => watcher.tell({ report: true })));
    expect(reports.filter(({ lastAcceptedBegan }) => BigInt(lastAcceptedBegan) > returned)).toEqual([]);
    await at(a, UserService.method.updateUser, { id, disabled: false });
    const setting = { kind: EventKind.SETTING, id: "switches" };
    const told = await at(b, WatchService.method.publish, setting, secrets.serviceKey);
    expect(told).toMatchObject({ acknowledged: 4, expired: 0 });
  });

  test("of the last two administrators, whom two processes end at once, one stays", async () => {
    const { users } = await openAuthStore(store);
    const { user } = await at(a, UserService.method.getUser, { email: "admin@example.org" });
    for (let round = 0; round < 5; round++) {
      const made = await at(a, UserService.method.createUser, {
        email: `second${round}@example.org`,
        name: "Second",
        admin: true,
      });
      await Promise.allSettled([
        at(a, UserService.method.updateUser, { id: user?.id as string, admin: false }),
        at(b, UserService.method.deleteUser, { id: made.user?.id as string }),
      ]);
      expect(await users.countDocuments({ admin: true, disabled: false })).toBeGreaterThan(0);
      await users.updateOne({ _id: user?.id as string }, { $set: { admin: true } });
      await users.deleteOne({ _id: made.user?.id as string });
    }
  });

  test("while one is stopped, the other revokes when its leases are over; it refuses when it goes on", async () => {
    const id = await keyInUse(a);
    a.child.kill("SIGSTOP");
    const { returned, expired, ms } = await revokeAt(b, id);
    expect(expired).toBeGreaterThan(0);
    expect(ms).toBeGreaterThan(LEASE_MS * 0.5);
    expect(ms).toBeLessThan(OVER_MS + 2_000);
    await expectRefusedSince(returned);
    a.child.kill("SIGCONT");
    // It would be heard if it accepted the key now.
    await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
    await expectRefusedSince(returned);
    await allReport(({ leased }) => leased);
    const again = await revokeAt(a, id);
    expect(again.acknowledged).toBe(4);
  });

  test("when one is killed, its watchers go to the other, which goes on serving and revoking", async () => {
    const id = await keyInUse(a);
    b.child.kill("SIGKILL");
    const { returned } = await revokeAt(a, id);
    await expectRefusedSince(returned);
    const next = await keyInUse(a);
    await allReport(({ leased }) => leased);
    const { ms, acknowledged, expired, returned: then } = await revokeAt(a, next);
    expect([acknowledged, expired]).toEqual([4, 0]);
    expect(ms).toBeLessThan(LEASE_MS);
    await expectRefusedSince(then);
  });

  test("one that begins serves at once, beside the other", async () => {
    b = await startAuth(b.port);
    const id = await keyInUse(b);
    const { returned, ms } = await revokeAt(b, id);
    expect(ms).toBeLessThan(LEASE_MS);
    await expectRefusedSince(returned);
  });
});
