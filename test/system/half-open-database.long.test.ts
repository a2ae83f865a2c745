import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Link } from "../hold/chaos/link.js";
import { post } from "../support/mcp.js";
import { missing, startMongoJavaServer } from "../support/mongo-java-server/server.js";
import { startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

// A way to the database that forgets its connections without a word, as a firewall does: both ends believe that they
// are there. The service is independent of the system's own patience, which is a quarter of an hour.

/** Until everything is served again: the driver asks a server every 10 seconds and waits 10 for its answer. */
const AGAIN_MS = 28_000;

test.skipIf(missing)(
  titled("half-open sockets to the database are given up, and nothing that was acknowledged is lost", missing),
  async () => {
    const server = await startMongoJavaServer();
    const link = await Link.open(Number(new URL(server.uri).port));
    const folder = mkdtempSync(join(tmpdir(), "half-open-"));
    const uri = `mongodb://${new URL(link.url).host}/half?directConnection=true`;
    const program = await startProgram({ env: { MONGODB_URI: uri, LOG_LEVEL: "warn" }, dataDir: folder });
    const core = `${program.baseUrl}/mcp/core`;
    const key = program.bootstrap.analyst.api_key;
    const acknowledged: string[] = [];
    const outside: string[] = [];
    let servedAt = 0;
    let isOver = false;
    const client = async (n: number): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        const name = `of ${n}: ${i}`;
        const args = { name: "create_agent", arguments: { name, instructions: "Watch." } };
        const { status, body, text } = await post(core, key, "tools/call", args);
        if (status === 200 && body.result?.isError !== true && body.result !== undefined) {
          acknowledged.push(name);
          servedAt = performance.now();
        } else if (![200, 429, 503].includes(status)) outside.push(`${status} ${text.slice(0, 200)}`);
        await sleep(100);
      }
    };
    try {
      const clients = [0, 1, 2].map(client);
      await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(10);
      const forgotten = performance.now();
      link.forget();
      await sleep(2_000);
      await expect
        .poll(() => servedAt, { timeout: AGAIN_MS, message: "nothing is served again" })
        .toBeGreaterThan(forgotten + 1_000);
      process.stdout.write(`served again ${Math.round((servedAt - forgotten) / 100) / 10} s after\n`);
      const count = acknowledged.length;
      await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(count + 10);
      isOver = true;
      await Promise.all(clients);
      expect(outside).toEqual([]);
      const names: string[] = [];
      for (let page_token: string | undefined; ; ) {
        const args = { page_size: 100, ...(page_token !== undefined && { page_token }) };
        const { body } = await post(core, key, "tools/call", { name: "list_agents", arguments: args });
        const page = body.result?.structuredContent as { agents?: { name: string }[]; next_page_token?: string };
        names.push(...(page.agents ?? []).map(({ name }) => name));
        page_token = page.next_page_token;
        if (page_token === undefined || page_token === "") break;
      }
      expect(acknowledged.filter((name) => names.filter((other) => other === name).length !== 1)).toEqual([]);
    } finally {
      isOver = true;
      await program.stop();
      await link.close();
      server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  180_000,
);
