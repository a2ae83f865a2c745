import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { otlpReceiver, type TestReceiver } from "../services/auth/audit-export/receivers.js";
import { missing as noJava, startMongoJavaServer } from "../support/mongo-java-server/server.js";
import {
  type Child,
  freePorts,
  OWN_SERVERS,
  type Program,
  spawnProgram,
  startProgram,
  untilReady,
} from "../support/program.js";
import { titled } from "../support/titled.js";

// On MongoDB, one of several processes sends the audit. If it is killed, another one does, when its place has expired.

/** What docs/operations.md says, and the time that a delivery takes on a busy machine. */
const AT_MOST_MS = 60_000 + 10_000;

describe.skipIf(noJava)(titled("the process that sends the audit is killed", noJava), () => {
  let stopServer = (): void => undefined;
  let receiver: TestReceiver;
  let sender: Program;
  let other: Child;
  let otherUrl: string;
  let dir: string;

  beforeAll(async () => {
    if (noJava !== undefined) return;
    const server = await startMongoJavaServer();
    stopServer = () => server.stop();
    dir = mkdtempSync(join(tmpdir(), "sender-"));
    receiver = await otlpReceiver();
    const [port = 0, grpcPort = 0, otherGrpcPort = 0] = await freePorts(3);
    otherUrl = `http://127.0.0.1:${otherGrpcPort}`;
    const shared = {
      ...OWN_SERVERS,
      MONGODB_URI: `${server.uri}/sender-killed`,
      BASE_URL: `http://127.0.0.1:${port}`,
      AUDIT_RECEIVERS: `http://127.0.0.1:${receiver.port}/v1/logs`,
    };
    sender = await startProgram({ env: { ...shared, PORT: String(port), GRPC_PORT: String(grpcPort) } });
    other = spawnProgram("services/main.js", [], {
      ...shared,
      SERVICE_KEY_FILE: join(sender.dataDir, "service-key"),
      SECRETS_KEY_FILE: join(sender.dataDir, "secrets-key"),
      PORT: "0",
      GRPC_PORT: String(otherGrpcPort),
      DATA_DIR: join(dir, "other"),
    });
    await untilReady(other);
  });
  afterAll(async () => {
    if (noJava !== undefined) return;
    await other?.stop();
    await sender?.stop();
    await receiver?.close();
    rmSync(dir, { recursive: true, force: true });
    stopServer();
  });

  test("another process sends what is missing within a minute, each record once", async () => {
    const groups = connectClient(GroupService, { baseUrl: otherUrl, apiKey: sender.bootstrap.admin.api_key });
    const write = (name: string): Promise<unknown> => groups.createGroup({ name });
    for (let i = 0; i < 20; i++) await write(`before ${i}`);
    await expect.poll(() => receiver.numbers.length).toBeGreaterThanOrEqual(20);
    const had = receiver.numbers.length;

    sender.process.kill("SIGKILL");
    const killedAt = performance.now();
    const written = 20;
    for (let i = 0; i < written; i++) await write(`after ${i}`);
    while (receiver.numbers.length < had + written && performance.now() - killedAt < 2 * AT_MOST_MS) await sleep(100);
    const took = performance.now() - killedAt;
    process.stdout.write(`the last record came ${(took / 1_000).toFixed(1)} s after the kill\n`);
    expect(took).toBeLessThan(AT_MOST_MS);
    expect(receiver.numbers).toEqual(receiver.numbers.map((_, i) => (receiver.numbers[0] as number) + i));
  });
});
