import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { post } from "../../facade/support/client.js";
import { start } from "../../facade/support/start.js";

/** What the k6 script sends in some iterations; k6's own modules exist in k6 alone, so others take their place. */
async function sentByK6(iterations: number): Promise<{ url: string; body: string; headers: Record<string, string> }[]> {
  const sent: { url: string; body: string; headers: Record<string, string> }[] = [];
  const http = {
    post: (url: string, body: string, { headers }: { headers: Record<string, string> }) =>
      void sent.push({ url, body, headers }),
  };
  const env = { LOAD_URL: "http://server/mcp/cti", LOAD_KEY: "good", LOAD_TOOL: "echo_sighting" };
  const source = readFileSync("clients/load/scripts/k6.js", "utf8")
    .replace(/^import .*$/gm, "")
    .replace("export const options", "const options")
    .replace("export default function", "return function");
  const names = ["http", "check", "__ENV", "__ITER", "__VU"];
  for (let i = 0; i < iterations; i++) {
    const request = new Function(...names, source)(http, () => undefined, env, i, 1) as () => void;
    request();
  }
  return sent;
}

test("every request of the k6 script is answered with a result", async () => {
  const facade = await start();
  try {
    const methods = new Set<string>();
    for (const { body, headers } of await sentByK6(20)) {
      const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const answer = await post(`${facade.url}/mcp/cti`, body, lower);
      expect([answer.status, answer.json.error, answer.json.result.isError]).toEqual([200, undefined, undefined]);
      methods.add(`${JSON.parse(body).method} ${lower["mcp-protocol-version"]}`);
    }
    expect([...methods].sort()).toEqual([
      ...["tools/call 2025-11-25", "tools/call 2026-07-28"],
      ...["tools/list 2025-11-25", "tools/list 2026-07-28"],
    ]);
  } finally {
    await facade.close();
  }
});

test("the ghz script gives the key by a file and not by an argument", async () => {
  const folder = mkdtempSync(join(tmpdir(), "load-"));
  const ghz = join(folder, "ghz");
  const out = join(folder, "out");
  writeFileSync(
    ghz,
    `#!/usr/bin/env bash\necho "$@" >${out}\nwhile [ "$1" != --metadata-file ]; do shift; done\ncat "$2" >>${out}\n`,
  );
  chmodSync(ghz, 0o755);
  const env = { ...process.env, GHZ: ghz, LOAD_KEY: "slp_a_key", LOAD_GRPC: "127.0.0.1:1" };
  await promisify(execFile)("bash", ["clients/load/scripts/ghz.sh", "--format", "html"], { env });
  const [args = "", metadata = ""] = readFileSync(out, "utf8").split("\n");
  expect(args).toMatch(/--call cti\.v1\.AccountService\.Whoami --data \{\} .*--format html 127\.0\.0\.1:1$/);
  expect(args).not.toContain("slp_a_key");
  expect(JSON.parse(metadata)).toEqual({ authorization: "Bearer slp_a_key" });
});
