import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Connected, SERVER, WAYS } from "../../hosts/packages/ways.js";
import { CLAUDE, foreignFile, isInstalled, MCPB } from "../../support/foreign.js";
import { notLong } from "../../support/long.js";
import { toolNames } from "../../support/mcp.js";
import { packagesOf } from "../../support/packages.js";
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// A part of npm run test:clients, with the clients that test/foreign/install.sh brings.

const IN_CI: Readonly<Record<string, string>> = { "claude-code": CLAUDE, mcpb: MCPB };
const MINUTES = 300_000;
const ways = WAYS.filter(({ client, how }) => client in IN_CI && !how.startsWith("fragment"));
const missing = Object.values(IN_CI).filter((program) => !isInstalled(program));
const skipped = missing.length === 0 ? notLong : "Claude Code or mcpb is not installed: test/foreign/install.sh";

describe.skipIf(skipped)(titled("clients with a package of the running service", skipped), () => {
  const below = mkdtempSync(join(tmpdir(), "clients-"));
  const clients: Connected[] = [];
  let program: Program;

  beforeAll(async () => {
    program = await startProgram({ readyWithin: MINUTES });
  }, MINUTES);
  afterAll(async () => {
    for (const client of clients) await client.close();
    await program?.stop();
    rmSync(below, { recursive: true, force: true });
  });

  test("each lists the person's tools; after its key is revoked it is refused, and the others continue", {
    timeout: MINUTES,
  }, async () => {
    const { email, api_key: key } = program.bootstrap.analyst;
    const { baseUrl } = program;
    const packages = packagesOf(program, key, below);
    const { length } = await toolNames(`${baseUrl}/mcp/${SERVER}`, key);
    const folderOf = (client: string): string => foreignFile(client);
    for (const way of ways) clients.push(await way.connect({ baseUrl, packages, folderOf }));
    expect(clients).toHaveLength(6);
    const seen = async (client: Connected): Promise<unknown[]> => {
      const { tools, result } = await client.ask();
      return [tools, result?.includes(email)];
    };
    for (const [index, client] of clients.entries())
      expect(await seen(client), ways[index]?.how).toEqual([length, true]);
    for (const [index, { keyId }] of clients.entries()) {
      await packages.revoke(keyId);
      const refused = await (clients[index] as Connected).ask();
      expect([refused.tools, refused.result], ways[index]?.how).toEqual([0, undefined]);
      expect(refused.output, ways[index]?.how).toMatch(/was revoked/);
      const next = clients[index + 1];
      if (next !== undefined) expect(await seen(next), ways[index + 1]?.how).toEqual([length, true]);
    }
  });
});
