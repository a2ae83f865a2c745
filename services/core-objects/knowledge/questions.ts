import { LRUCache } from "lru-cache";
import type { Caller } from "../../shared/rpc/call.js";
import type { Principals } from "../principals.js";
import { vectorsOf } from "./checked-vectors.js";
import { EmbedderError, type Embedders, type EmbeddingIntegration } from "./embedder.js";
import { mayUse } from "./integration-use.js";

// A question is private to the caller. It is embedded in this process for every
// knowledge base of the built-in model, and goes to an outside endpoint only by
// the caller's choice. A knowledge base whose endpoint is not asked, or does not
// answer well, is searched by words alone, and no other one notices.

/** How long all outside endpoints of one search have together, in milliseconds. */
export const ENDPOINT_MS = 900;
/** How long an endpoint that did not answer well is left out, in milliseconds. */
const LEFT_OUT_MS = 60_000;
const MAX_LEFT_OUT = 10_000;

const NOT_CHOSEN =
  "the embedding endpoint belongs to neither you nor your company: name the knowledge base in knowledge_base_ids to let it read your question";
const NOT_SHARED = "the owner of the knowledge base can no longer read the integration that embeds it";
const OTHER_LENGTH = "its endpoint returns vectors of another length than when it embedded the documents";

/** A knowledge base, and what its documents are embedded by: the lengths of the vectors by the id of the embedder. */
export interface Asked {
  readonly id: string;
  readonly owner: string;
  readonly embedders: ReadonlyMap<string, ReadonlySet<number>>;
}

/** A search, as far as embedders are concerned. */
export interface Question {
  readonly query: string;
  readonly bases: readonly Asked[];
  readonly caller: Caller;
  /** The caller named the knowledge bases. */
  readonly isChosen: boolean;
  readonly signal: AbortSignal;
}

/** The vectors of a question. */
export interface Embedded {
  /** By the id of the embedder. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
  /** Why a knowledge base is searched by words alone, by its id. */
  readonly wordsAlone: ReadonlyMap<string, string>;
}

/** Embeds questions, and remembers which endpoints did not answer well. */
export interface Questions {
  embed(question: Question): Promise<Embedded>;
}

/** @param deadlineMs how long outside endpoints have for one search. */
export function createQuestions(
  embedders: Embedders,
  principals: Pick<Principals, "groupsOf">,
  deadlineMs = ENDPOINT_MS,
): Questions {
  /** Reasons by embedder and etag of its integration: an integration that is changed is asked again. */
  const leftOut = new LRUCache<string, string>({ max: MAX_LEFT_OUT, ttl: LEFT_OUT_MS });

  async function vectorOf(id: string, query: string, signal: AbortSignal): Promise<Float32Array | string> {
    try {
      const [vector] = await vectorsOf(await embedders.byId(id), [query], signal);
      return vector as Float32Array;
    } catch (error) {
      if (error instanceof EmbedderError) return error.message;
      throw error;
    }
  }

  async function askEndpoint(
    id: string,
    integration: EmbeddingIntegration,
    { query, signal }: Question,
  ): Promise<Float32Array | string> {
    const key = `${id} ${integration.etag}`;
    const known = leftOut.get(key);
    if (known !== undefined) return known;
    const late = `the endpoint of the integration ${integration.name} does not answer within a second`;
    const said = await within(deadlineMs, signal, late, (either) => vectorOf(id, query, either));
    if (typeof said === "string") leftOut.set(key, said);
    return said;
  }

  /** Why the knowledge base is searched by words alone before anybody is asked; undefined if it is not. */
  async function refusalOf(
    { owner }: Asked,
    outside: readonly EmbeddingIntegration[],
    { caller, isChosen }: Question,
  ): Promise<string | undefined> {
    const isOpen = ({ origin, owner: whose }: EmbeddingIntegration): boolean =>
      isChosen || origin === "company" || (whose !== "" && whose === caller.id);
    if (!outside.every(isOpen)) return NOT_CHOSEN;
    for (const one of outside) if (!(await mayUse(principals, { owner }, one))) return NOT_SHARED;
    return undefined;
  }

  return {
    async embed(question) {
      const { bases, query, signal } = question;
      const endpoints = await embedders.endpointsOf([...new Set(bases.flatMap((base) => [...base.embedders.keys()]))]);
      const wordsAlone = new Map<string, string>();
      for (const base of bases) {
        const outside = [...base.embedders.keys()].flatMap((id) => endpoints.get(id) ?? []);
        const refusal = await refusalOf(base, outside, question);
        if (refusal !== undefined) wordsAlone.set(base.id, refusal);
      }
      const asked = bases.filter(({ id }) => !wordsAlone.has(id));
      const ids = [...new Set(asked.flatMap((base) => [...base.embedders.keys()]))];
      const answers = await Promise.all(
        ids.map((id) => {
          const endpoint = endpoints.get(id);
          return endpoint === undefined ? vectorOf(id, query, signal) : askEndpoint(id, endpoint, question);
        }),
      );
      const vectors = new Map<string, Float32Array>();
      for (const base of asked) {
        for (const [id, lengths] of base.embedders) {
          const answer = answers[ids.indexOf(id)] as Float32Array | string;
          if (typeof answer === "string") wordsAlone.set(base.id, answer);
          else if (!lengths.has(answer.length)) wordsAlone.set(base.id, OTHER_LENGTH);
          else vectors.set(id, answer);
        }
      }
      return { vectors: Object.fromEntries(vectors), wordsAlone };
    },
  };
}

/** The answer, or the other one if it takes longer; what still runs then is aborted. */
async function within<T>(
  ms: number,
  signal: AbortSignal,
  late: T,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  const answer = work(AbortSignal.any([signal, closing.signal]));
  answer.catch(() => {});
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
    closing.abort();
  }
}
