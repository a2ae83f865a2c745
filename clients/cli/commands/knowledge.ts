import { stat } from "node:fs/promises";
import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { DocumentUploadService } from "#proto/core/v1/document_upload_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";
import { documentsRead } from "../documents-read.js";
import { EXIT, Failure, UsageError } from "../failures.js";
import { type FileToAdd, filesIn } from "../files-to-add.js";
import { patiently } from "../patiently.js";
import { progressBar } from "../progress-bar.js";
import { failureOf, isUnreached } from "../reasons.js";
import type { Session } from "../session.js";
import { uploadFile } from "../upload-file.js";

/** What became of all files. */
interface Added {
  readonly knowledge_base: string;
  readonly added: number;
  /** Their content was there. */
  readonly already_there: number;
  /** Documents that are found by their words, while their vectors are being made. */
  readonly by_words?: number;
  readonly problems: readonly { readonly file: string; readonly problem: string }[];
}

/** Fills knowledge bases. */
export const knowledge: readonly Verb[] = [
  {
    verb: "add",
    doc: "Add files, or all files of folders, to a knowledge base: text, Markdown, HTML, PDF, docx, to 64 MiB each. Repeat it to add what is missing. Files that cannot be added are listed at the end, and the exit code is 1.",
    args: [
      { name: "BASE", doc: "The knowledge base: its id, or its name." },
      { name: "PATH", doc: "A file or a folder.", isMany: true },
    ],
    flags: {
      "no-wait": { doc: "End when all files are sent; do not wait until the service has read them.", isSwitch: true },
    },
    async run(session, { args, lists, flags }) {
      const paths = lists.PATH as readonly string[];
      const files = await filesIn(paths).catch((error: Error) => {
        throw new UsageError(`a path cannot be read: ${error.message}`);
      });
      if (files.length === 0) throw new UsageError("there are no files at these paths");
      const base = await baseOf(session, args.BASE as string);
      return add(session, base, files, flags["no-wait"] === undefined);
    },
    shows: (answer) => shown(answer as Added),
    hasFailed: (answer) => (answer as Added).problems.length > 0,
  },
];

async function add(session: Session, base: string, files: readonly FileToAdd[], waits: boolean): Promise<Added> {
  const client = clientOf(session, DocumentUploadService);
  const problems = new Map<string, string>();
  /** By id of the document: files of one content are one. */
  const sent = new Map<string, string[]>();
  const there = new Set<string>();
  const sizes = await Promise.all(files.map(({ path }) => stat(path).then(({ size }) => size)));
  const bar = progressBar(
    "Sending",
    sizes.reduce((sum, size) => sum + size, 0),
  );
  let before = 0;
  try {
    for (const [i, file] of files.entries()) {
      try {
        const { document, wasThere } = await uploadFile(client, base, file, (bytes) =>
          bar.at(before + bytes, file.name),
        );
        if (wasThere) there.add(file.path);
        sent.set(document.id, [...(sent.get(document.id) ?? []), file.path]);
      } catch (error) {
        if (isUnreached(error)) throw error;
        problems.set(file.path, failureOf(error).message);
      }
      before += sizes[i] as number;
      bar.at(before, file.name);
    }
  } finally {
    bar.stop();
  }
  const byWords = waits && sent.size > 0 ? await read(session, base, sent, problems) : 0;
  const kept = [...there].filter((path) => !problems.has(path)).length;
  return {
    knowledge_base: base,
    added: files.length - kept - problems.size,
    already_there: kept,
    ...(byWords > 0 && { by_words: byWords }),
    problems: [...problems].map(([file, problem]) => ({ file, problem })),
  };
}

/** @returns how many documents are found by their words alone. */
async function read(
  session: Session,
  base: string,
  sent: ReadonlyMap<string, readonly string[]>,
  problems: Map<string, string>,
): Promise<number> {
  const bar = progressBar("Reading", sent.size);
  try {
    const documents = clientOf(session, DocumentService);
    const { failed, byWords } = await documentsRead(documents, base, new Set(sent.keys()), (count) =>
      bar.at(count, `${count} of ${sent.size} documents`),
    );
    for (const [id, problem] of failed) for (const path of sent.get(id) ?? []) problems.set(path, problem);
    return byWords;
  } finally {
    bar.stop();
  }
}

async function baseOf(session: Session, given: string): Promise<string> {
  const client = clientOf(session, KnowledgeBaseService);
  const { knowledgeBases } = await patiently(() =>
    client.listKnowledgeBases({ query: given.slice(0, 200), pageSize: 100 }),
  );
  const named = knowledgeBases.filter(({ name }) => name === given);
  if (named.length === 1) return (named[0] as { id: string }).id;
  if (named.length > 1)
    throw new UsageError(
      `${named.length} knowledge bases have this name; give an id: ${named.map(({ id }) => id).join(", ")}`,
    );
  const { knowledgeBase } = await client
    .getKnowledgeBase({ knowledgeBaseId: given })
    .catch(() => ({ knowledgeBase: undefined }));
  if (knowledgeBase !== undefined) return knowledgeBase.id;
  throw new Failure(
    `no knowledge base that you can see has the id or name ${given}: create it with tools call core create_knowledge_base '{"name": …}'`,
    EXIT.notFound,
  );
}

function shown({ added, already_there: there, by_words: byWords, problems }: Added): string {
  const lines = problems.map(({ file, problem }) => `${file}: ${problem}`);
  if (byWords !== undefined) lines.unshift(`${byWords} are found by their words; their vectors are still being made`);
  const count = `${added} added, ${there} already there, ${problems.length} not added`;
  return [count, ...lines].join("\n");
}
