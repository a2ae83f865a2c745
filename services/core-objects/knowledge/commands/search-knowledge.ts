import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  PassageSchema,
  SearchKnowledgeRequestSchema,
  SearchKnowledgeResponseSchema,
  WordsAloneSchema,
} from "#proto/core/v1/knowledge_base_service_pb.js";
import { ThreadEndedError, ThreadStuckError } from "../../../shared/process/asked.js";
import type { Call, Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition, notFound, unavailable } from "../../../shared/rpc/errors.js";
import { quotedAll } from "../../../shared/rpc/quoted.js";
import { shorten } from "../../../shared/tools/shorten.js";
import type { Context } from "../../context.js";
import type { KnowledgeBaseRecord } from "../../kinds/knowledge-bases/record.js";
import { filterOf } from "../../policy.js";
import { BUILT_IN } from "../built-in-embedder.js";
import type { Hit } from "../fused.js";
import { isThere } from "../gate.js";
import { LEXICAL_WEIGHT } from "../knowledge.js";
import type { Asked, Embedded } from "../questions.js";
import { BLOCK, type BlockRecord, blockIdOf, type DocumentRecord } from "../records.js";

type Passage = MessageInitShape<typeof PassageSchema>;
type Base = Pick<KnowledgeBaseRecord, "_id" | "name" | "enabled" | "revision" | "owner">;

const LIMIT = 6;
/** Knowledge bases that one search looks in. */
const MAX_BASES = 200;
/** Characters of a passage that is shown. */
const MAX_TEXT = 1_200;
/** Times that a search is repeated because a document was revised meanwhile. */
const TRIES = 3;
/** Reasons, and knowledge bases of each, that an answer names. */
const MAX_REASONS = 9;
const MAX_NAMED = 20;
const OTHER_REASONS = "for several reasons: search fewer knowledge bases to see them";

type Answer = MessageInitShape<typeof SearchKnowledgeResponseSchema>;

/** Finds the passages that answer best, in what the caller can see and nothing else. */
export async function searchKnowledge(
  context: Context,
  request: MessageShape<typeof SearchKnowledgeRequestSchema>,
  call: Call,
): Promise<Answer> {
  const failed = (error: Error): never => {
    if (!(error instanceof ThreadEndedError)) throw error;
    throw unavailable(
      `the search was stopped, because ${error.message}: name fewer knowledge bases, or repeat the call`,
    );
  };
  return search(context, request, call)
    .catch((error: Error) => {
      // It ended with a search of somebody else.
      if (error instanceof ThreadEndedError && !(error instanceof ThreadStuckError))
        return search(context, request, call);
      throw error;
    })
    .catch(failed);
}

async function search(
  context: Context,
  request: MessageShape<typeof SearchKnowledgeRequestSchema>,
  { caller, signal }: Call,
): Promise<Answer> {
  const { query, knowledgeBaseIds, documentIds, limit = LIMIT } = request;
  const { ranking, questions, options } = context.knowledge;
  const isChosen = knowledgeBaseIds.length > 0 || documentIds.length > 0;
  let embedded: Embedded | undefined;
  let isBuiltInAsked = false;
  for (let attempt = 1; ; attempt++) {
    const notes: string[] = [];
    const all = await basesIn(context, knowledgeBaseIds, caller, notes);
    const bases = await withDocuments(context, all, documentIds);
    const asked: Asked[] = [];
    for (const { _id: id, revision, owner } of bases)
      asked.push({ id, owner, embedders: await ranking.load({ id, revision }, attempt > 1) });
    const rank = async () => {
      const among = isBuiltInAsked ? asked : asked.map(withoutBuiltIn);
      embedded ??= await questions.embed({ query, bases: among, caller, isChosen, signal });
      const question = {
        query,
        vectors: embedded.vectors,
        wordsAlone: [...embedded.wordsAlone.keys()],
        documents: documentIds.length === 0 ? undefined : documentIds,
        limit,
        lexicalWeight: options.lexicalWeight ?? LEXICAL_WEIGHT,
      };
      return ranking.rank(
        question,
        bases.map(({ _id: id, revision }) => ({ id, revision })),
      );
    };
    let { hits, missing } = await rank();
    if (hits.length < limit && !isBuiltInAsked && asked.some(({ embedders }) => embedders.has(BUILT_IN))) {
      [isBuiltInAsked, embedded] = [true, undefined];
      ({ hits, missing } = await rank());
    }
    const wordsAlone = embedded?.wordsAlone ?? new Map<string, string>();
    if (missing.length > 0)
      notes.push(
        `${missing.length} knowledge bases were not searched, because the memory for searches is in use: name fewer, or repeat the call`,
      );
    const passages = await passagesOf(context, hits, bases);
    if (passages.length === hits.length || attempt === TRIES)
      return { passages, notes, wordsAlone: wordsAloneIn(bases, wordsAlone) };
  }
}

/**
 * The built-in model is asked where words find less than was asked for: on real documents it adds nothing to what they
 * find, and takes longer than they do.
 */
function withoutBuiltIn(base: Asked): Asked {
  return { ...base, embedders: new Map([...base.embedders].filter(([id]) => id !== BUILT_IN)) };
}

/** The knowledge bases that were searched by words alone, by reason. */
function wordsAloneIn(
  bases: readonly Base[],
  reasons: ReadonlyMap<string, string>,
): MessageInitShape<typeof WordsAloneSchema>[] {
  const groups = new Map<string, Base[]>();
  for (const base of bases) {
    const said = reasons.get(base._id);
    if (said === undefined) continue;
    const reason = groups.has(said) || groups.size < MAX_REASONS ? said : OTHER_REASONS;
    groups.set(reason, [...(groups.get(reason) ?? []), base]);
  }
  return [...groups].map(([reason, some]) => ({
    reason,
    knowledgeBases: some.slice(0, MAX_NAMED).map(({ _id: id, name }) => ({ id, name })),
    count: some.length,
  }));
}

/** The enabled knowledge bases that are searched; `notes` says which are not. */
async function basesIn(
  context: Context,
  ids: readonly string[],
  caller: Caller,
  notes: string[],
): Promise<readonly Base[]> {
  const collection = context.collection<KnowledgeBaseRecord>("knowledge base");
  const projection = { name: 1, enabled: 1, revision: 1, owner: 1 };
  const seen = filterOf(caller, "read");
  if (ids.length === 0) {
    const options = { sort: { _id: -1 } as const, limit: MAX_BASES + 1, hint: "access", projection };
    const found = await collection.find({ ...seen, enabled: true }, options).toArray();
    if (found.length > MAX_BASES)
      notes.push(`only the newest ${MAX_BASES} knowledge bases were searched: name others in knowledge_base_ids`);
    return found.slice(0, MAX_BASES);
  }
  const found = await collection.find({ _id: { $in: [...ids] }, ...seen }, { projection }).toArray();
  const known = new Set(found.map(({ _id }) => _id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw notFound(
      `no knowledge base that you can see has the id ${quotedAll(missing)}; list_knowledge_bases returns the ids`,
    );
  const off = found.filter(({ enabled }) => !enabled);
  if (off.length === found.length)
    throw failedPrecondition(`the knowledge base ${off.map(({ name }) => name).join(", ")} is disabled`);
  for (const { name } of off) notes.push(`the knowledge base ${name} is disabled and was not searched`);
  return found.filter(({ enabled }) => enabled);
}

/** Of the knowledge bases those that the documents are in; all of them where none are given. */
async function withDocuments(
  { knowledge: { documents } }: Context,
  bases: readonly Base[],
  ids: readonly string[],
): Promise<readonly Base[]> {
  if (ids.length === 0) return bases;
  const projection = { knowledge_base: 1, state: 1 };
  const found = await documents.find({ _id: { $in: [...ids] } }, { projection }).toArray();
  const within = new Set(bases.map(({ _id }) => _id));
  const seen = found.filter((one) => within.has(one.knowledge_base) && isThere(one));
  const known = new Set(seen.map(({ _id }) => _id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw notFound(`none of the searched documents has the id ${quotedAll(missing)}; list_documents returns the ids`);
  const wanted = new Set(seen.map(({ knowledge_base }) => knowledge_base));
  return bases.filter(({ _id }) => wanted.has(_id));
}

/** What was found, with its text: without what was revised or deleted since it was ranked. */
async function passagesOf(
  { knowledge: { blocks, documents } }: Context,
  hits: readonly Hit[],
  bases: readonly Base[],
): Promise<Passage[]> {
  if (hits.length === 0) return [];
  const documentIds = [...new Set(hits.map(({ document }) => document))];
  const found = await documents.find({ _id: { $in: documentIds } }).toArray();
  const known = new Map(found.map((one) => [one._id, one]));
  const blocksOf = new Map<string, readonly BlockRecord[]>();
  for (const id of documentIds) {
    const serving = known.get(id)?.serving;
    if (serving == null) continue;
    const positions = hits.filter(({ document }) => document === id).map(({ position }) => position);
    const ids = [
      ...new Set(positions.map((position) => blockIdOf(id, serving.generation, Math.floor(position / BLOCK)))),
    ];
    blocksOf.set(id, await blocks.find({ _id: { $in: ids } }, { projection: { vectors: 0 } }).toArray());
  }
  return hits.flatMap((hit) => {
    const base = bases.find(({ _id }) => _id === hit.base);
    const passage = base && passageAt(hit, base, known.get(hit.document), blocksOf.get(hit.document) ?? []);
    return passage === undefined ? [] : [passage];
  });
}

function passageAt(
  { generation, position, score }: Hit,
  base: Base,
  document: DocumentRecord | undefined,
  blocks: readonly BlockRecord[],
): Passage | undefined {
  if (document?.serving?.generation !== generation || document.state === "leaving") return undefined;
  const block = blocks.find(({ n }) => n === Math.floor(position / BLOCK));
  const passage = block?.passages[position % BLOCK];
  if (passage === undefined) return undefined;
  return {
    text: shorten(passage.text, MAX_TEXT),
    headings: [...passage.headings],
    ...(passage.page !== undefined && { page: passage.page }),
    document: { id: document._id, name: document.name },
    knowledgeBase: { id: base._id, name: base.name },
    version: document.serving.version,
    position: position + 1,
    startByte: passage.start,
    endByte: passage.end,
    score: Math.round(score * 1_000) / 1_000,
  };
}
