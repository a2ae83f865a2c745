// npm run test:clients [-- FOLDER [CLIENT…]]: real clients from npm, and the way in which a host starts a desktop
// extension, use the packages and fragments of one running service, each with a key of its own. Then one key after
// the other is revoked: its client is refused at its next request, and the others continue. One line for each;
// exit 1 if one fails. FOLDER keeps the clients for the next time. Not part of npm test: it takes 2 GB of disk.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolNames } from "../../support/mcp.js";
import { packagesOf } from "../../support/packages.js";
import { startProgram } from "../../support/program.js";
import { titleOf } from "../behaviour.js";
import { HOSTS } from "../hosts.js";
import { type Installable, install } from "../run.js";
import { type Connected, SERVER, WAYS, type Way } from "./ways.js";

/** What is installed for each client. */
const CLIENTS: readonly Installable[] = [
  ...HOSTS,
  { name: "mcpb", packages: ["@anthropic-ai/mcpb@2.1.2"], bin: ["mcpb"] },
];
const titles = new Map(CLIENTS.map((client) => [client.name, titleOf(client)]));
/** What people read of a revoked key, in our words; clients that show less have a line of their own. */
const REVOKED = /was revoked|requires authentication|401|Unauthorized|rejected|fail|not connected|disconnected/i;

const [given, ...only] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), "sallyport-hosts-"));
const below = mkdtempSync(join(tmpdir(), "sallyport-packages-"));
const ways = WAYS.filter(({ client }) => only.length === 0 || only.includes(client));
// Before the service starts: npm blocks this process, and connections that nobody reads meanwhile break.
for (const client of new Set(ways.map((way) => way.client))) {
  const installable = CLIENTS.find(({ name }) => name === client);
  if (installable === undefined || !install(installable, join(folder, client)))
    throw new Error(`npm did not install ${client}`);
}
const program = await startProgram({ env: { BAD_TOKENS_PER_MINUTE: "1000" }, readyWithin: 300_000 });
const { email, api_key: key } = program.bootstrap.analyst;
const bench = {
  baseUrl: program.baseUrl,
  packages: packagesOf(program, key, below),
  folderOf: (client: string) => join(folder, client),
};
const expected = (await toolNames(`${program.baseUrl}/mcp/${SERVER}`, key)).length;
let failures = 0;

function report(isGood: boolean, { client, how }: Way, seen: string): void {
  if (!isGood) failures++;
  process.stdout.write(`${isGood ? "ok    " : "FAILED"}  ${titles.get(client)}: ${how}: ${seen}\n`);
}
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
const tailOf = (text: string): string => oneLine(text).slice(-300);

/** Whether a client lists every tool and calls one as the person. */
async function works(way: Way, client: Connected, when: string): Promise<void> {
  const { tools, result, output } = await client.ask();
  const isAnswered = result?.includes(email) ?? false;
  const seen = `${tools} tools, whoami ${isAnswered ? "answered" : "not answered"} ${when}`;
  const isGood = tools === expected && isAnswered;
  report(isGood, way, isGood ? seen : `${seen}; it says: ${tailOf(output)}`);
}

const living: { readonly way: Way; readonly client: Connected }[] = [];
try {
  for (const way of ways) {
    try {
      const client = await way.connect(bench);
      living.push({ way, client });
      await works(way, client, "at first");
    } catch (error) {
      report(false, way, (error as Error).message);
    }
  }
  let isFirst = true;
  for (let one = living.shift(); one !== undefined; one = living.shift()) {
    const { way, client } = one;
    await bench.packages.revoke(client.keyId);
    const { tools, result, output } = await client.ask();
    // Copilot CLI shows its model the tools that it remembers; the call is what the service refuses then.
    const isRefused = result === undefined ? tools === 0 : REVOKED.test(result) && !result.includes(email);
    const [read = "nothing"] = REVOKED.exec(oneLine(`${output} ${result ?? ""}`)) ?? [];
    const seen = `refused after its key was revoked (${tools} tools shown); it says: ${read}`;
    report(isRefused, way, isRefused ? seen : `${seen}; ${tailOf(output)}; ${tailOf(result ?? "no result")}`);
    await client.close();
    // After the first every other one, after the others the next one; the extensions have run all the time.
    const others = living.filter(({ way: other }, n) => isFirst || n === 0 || other.client === "mcpb");
    for (const other of others) await works(other.way, other.client, "after that");
    isFirst = false;
  }
} finally {
  for (const { client } of living) await client.close();
  await program.stop();
  rmSync(below, { recursive: true, force: true });
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(failures === 0 ? "every client was as expected\n" : `${failures} were not as expected\n`);
process.exit(failures === 0 ? 0 : 1);
