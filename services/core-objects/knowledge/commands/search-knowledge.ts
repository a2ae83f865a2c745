import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  PassageSchema,
  SearchKnowledgeRequestSchema,
  SearchKnowledgeResponseSchema,
} from "#proto/core/v1/knowledge_base_service_pb.js";
import type { Call, Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition, notFound } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import type { Context } from "../../context.js";
import type { KnowledgeBaseRecord } from "../../kinds/knowledge-bases/record.js";
import { filterOf } from "../../policy.js";
import { EmbedderError } from "../embedder.js";
import { LEXICAL_WEIGHT } from "../knowledge.js";
import { BLOCK, type BlockRecord, blockIdOf, type DocumentRecord } from "../records.js";
import type { Hit } from "../threads/ranker.js";

type Passage = MessageInitShape<typeof PassageSchema>;
type Base = Pick<KnowledgeBaseRecord, "_id" | "name" | "enabled" | "revision">;

const LIMIT = 6;
/** Knowledge bases that one search looks in. */
const MAX_BASES = 200;
/** Characters of a passage that is shown. */
const MAX_TEXT = 1_200;
/** Times that a search begins anew because a document was revised under it. */
const TRIES = 3;

/** Finds the passages that answer best, in what the caller can see and nothing else. */
export async function searchKnowledge(
  context: Context,
  { query, knowledgeBaseIds, documentIds, limit = LIMIT }: MessageShape<typeof SearchKnowledgeRequestSchema>,
  { caller, signal }: Call,
): Promise<MessageInitShape<typeof SearchKnowledgeResponseSchema>> {
  const { ranking, options } = context.knowledge;
  const lexicalWeight = options.lexicalWeight ?? LEXICAL_WEIGHT;
  const vectors = new Map<string, Float32Array>();
  for (let attempt = 1; ; attempt++) {
    const notes: string[] = [];
    const all = await basesIn(context, knowledgeBaseIds, caller, notes);
    const bases = await withDocuments(context, all, documentIds);
    const embedders = new Set<string>();
    for (const { _id, revision } of bases) {
      for (const one of await ranking.load({ id: _id, revision, again: attempt > 1 })) embedders.add(one);
    }
    for (const id of embedders) {
      if (vectors.has(id)) continue;
      const vector = await vectorOf(context, id, query, signal, notes);
      if (vector !== undefined) vectors.set(id, vector);
    }
    const hits = await ranking.rank({
      query,
      vectors: Object.fromEntries(vectors),
      bases: bases.map(({ _id }) => _id),
      documents: documentIds.length === 0 ? undefined : documentIds,
      limit,
      lexicalWeight,
    });
    const passages = await passagesOf(context, hits, bases);
    if (passages.length === hits.length || attempt === TRIES) return { passages, notes };
  }
}

/** The enabled knowledge bases that are searched; `notes` says which are not. */
async function basesIn(
  context: Context,
  ids: readonly string[],
  caller: Caller,
  notes: string[],
): Promise<readonly Base[]> {
  const collection = context.collection<KnowledgeBaseRecord>("knowledge base");
  const projection = { name: 1, enabled: 1, revision: 1 };
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
      `no knowledge base that you can see has the id ${missing.join(", ")}; list_knowledge_bases names them`,
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
  const seen = found.filter((one) => within.has(one.knowledge_base) && one.state !== "leaving");
  const known = new Set(seen.map(({ _id }) => _id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw notFound(`no document that is searched has the id ${missing.join(", ")}; list_documents names the ids`);
  const wanted = new Set(seen.map(({ knowledge_base }) => knowledge_base));
  return bases.filter(({ _id }) => wanted.has(_id));
}

/** The query as an embedder sees it; undefined, with a note, where it cannot be had. */
async function vectorOf(
  { knowledge: { embedders } }: Context,
  id: string,
  query: string,
  signal: AbortSignal,
  notes: string[],
): Promise<Float32Array | undefined> {
  try {
    const [vector] = await (await embedders.byId(id)).embed([query], signal);
    return vector;
  } catch (error) {
    if (!(error instanceof EmbedderError)) throw error;
    notes.push(`some documents were searched by words alone: ${error.message}`);
    return undefined;
  }
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
    document: { id: document._id, name: document.name },
    knowledgeBase: { id: base._id, name: base.name },
    version: document.serving.version,
    position: position + 1,
    startByte: passage.start,
    endByte: passage.end,
    score: Math.round(score * 1_000) / 1_000,
  };
}
