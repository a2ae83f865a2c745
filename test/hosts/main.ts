// npm run clients:table [-- FOLDER]: runs the real MCP clients from npm against the built
// program, each with the configuration that `clients show` prints, and writes the page.
// FOLDER keeps the packages for the next time. Not part of npm test: it takes 2 GB of disk.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "../support/program.js";
import { behaviourOf, type Service } from "./behaviour.js";
import { HOSTS } from "./hosts.js";
import { listsOf } from "./lists.js";
import { PAGE, pageOf, type Seen } from "./page.js";
import { install } from "./run.js";
import { turnsOf } from "./turns.js";

const [given] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), "sallyport-hosts-"));
const program = await startProgram({ env: { BAD_TOKENS_PER_MINUTE: "1000" } });
try {
  const { email, api_key: key } = program.bootstrap.analyst;
  const cli = (...args: string[]): string =>
    spawnSync(process.execPath, ["dist/clients/cli/main.js", ...args, "--json"], {
      env: { ...process.env, DATA_DIR: program.dataDir },
      encoding: "utf8",
    }).stdout;
  const ended = JSON.parse(cli("keys", "create", "--user", email, "--name", "ended"));
  cli("keys", "revoke", ended.id);
  const service: Service = { baseUrl: program.baseUrl, key, revoked: ended.api_key };
  const behaviour: string[][] = [];
  const turns: string[][] = [];
  for (const host of HOSTS) {
    const own = join(folder, host.name);
    if (!install(host, own)) throw new Error(`npm did not install ${host.packages.join(" ")}`);
    behaviour.push(await behaviourOf(host, own, service));
    if (host.kind === "model") turns.push(...(await turnsOf(host, own, service)));
    process.stderr.write(`${host.name}: done\n`);
  }
  const seen: Seen = { day: new Date().toISOString().slice(0, 10), lists: await listsOf(service), behaviour, turns };
  writeFileSync(PAGE, pageOf(seen));
} finally {
  await program.stop();
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
