import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { type Mixed, writeMixed } from "../support/mixed-files.js";
import { freePorts, type Program, spawnProgram, startProgram } from "../support/program.js";

// A folder of 200 mixed files goes into a knowledge base from a shell, while the service
// and the shell are killed.

const COUNT = Number(process.env.FILES ?? 200);
const KILLS = 3;

let root: string;
let mixed: Mixed;
let program: Program;
let env: Record<string, string>;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "knowledge-files-"));
  mixed = writeMixed(join(root, "files"), COUNT);
  const [port, grpcPort] = (await freePorts(2)) as [number, number];
  env = { PORT: String(port), GRPC_PORT: String(grpcPort) };
  program = await start();
}, 240_000);
afterAll(async () => {
  await program?.stop();
  rmSync(root, { recursive: true, force: true });
});

const start = () => startProgram({ dataDir: join(root, "data"), env, readyWithin: 200_000 });
const client = <S extends typeof DocumentService | typeof KnowledgeBaseService>(service: S) =>
  connectClient(service, {
    ...{ baseUrl: `${program.baseUrl}/rpc`, apiKey: program.bootstrap.admin.api_key },
    ...{ httpVersion: "1.1", timeoutMs: 120_000, retries: 5 },
  });
const add = () =>
  spawnProgram("clients/cli/main.js", ["knowledge", "add", "Folder", join(root, "files"), "--json"], {
    DATA_DIR: join(root, "data"),
  });
async function ended(child: ReturnType<typeof add>): Promise<number | null> {
  if (child.process.exitCode === null) await once(child.process, "exit");
  return child.process.exitCode;
}

async function documents(knowledgeBaseId: string) {
  const found = [];
  let pageToken = "";
  do {
    const page = await client(DocumentService).listDocuments({ knowledgeBaseId, pageSize: 100, pageToken });
    found.push(...page.documents);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return found;
}

test(`${COUNT} files of 1 KB to 40 MB are in the knowledge base once each, whatever was killed, and broken ones are named`, async () => {
  const { knowledgeBase } = await client(KnowledgeBaseService).createKnowledgeBase({ name: "Folder" });
  const id = knowledgeBase!.id;

  // The shell is killed in the middle.
  const first = add();
  while ((await documents(id)).length < COUNT / 10) await sleep(200);
  first.process.kill("SIGKILL");
  await once(first.process, "exit");
  const acknowledged = (await documents(id)).map((one) => one.id);

  // The service is killed while files come and are read.
  const second = add();
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(4_000 + Math.random() * 8_000);
    acknowledged.push(...(await documents(id)).map((one) => one.id));
    program.process.kill("SIGKILL");
    await once(program.process, "exit");
    program = await start();
  }
  expect(await ended(second), second.output()).toBe(1);
  const answer = JSON.parse(second.output());
  const path = (name: string): string => join(root, "files", name);
  const said = new Map<string, string>(
    answer.problems.map(({ file, problem }: { file: string; problem: string }) => [file, problem]),
  );
  for (const [name, why] of mixed.broken) expect(said.get(path(name)), name).toContain(why);
  expect([...said.keys()].sort()).toEqual([...mixed.broken.keys()].map(path).sort());
  expect(answer.added + answer.already_there).toBe(mixed.good.size);

  const all = await documents(id);
  const ready = all.filter(({ state }) => state === DocumentState.READY || state === DocumentState.WORDS);
  expect(ready.map(({ name }) => name).sort()).toEqual([...mixed.good.keys()].sort());
  const there = new Set(all.map((one) => one.id));
  expect(acknowledged.filter((one) => !there.has(one))).toEqual([]);
  for (const [name, word] of mixed.good) {
    const { passages } = await client(KnowledgeBaseService).searchKnowledge({ query: word, limit: 1 });
    expect(passages[0]?.document?.name, word).toBe(name);
  }

  // Again: nothing is missing, and then one.
  const third = add();
  expect(await ended(third)).toBe(1);
  expect(JSON.parse(third.output())).toMatchObject({ added: 0, already_there: mixed.good.size });
  await client(DocumentService).deleteDocument({ documentId: ready[0]!.id });
  const fourth = add();
  await ended(fourth);
  expect(JSON.parse(fourth.output())).toMatchObject({ added: 1, already_there: mixed.good.size - 1 });
}, 2_400_000);
