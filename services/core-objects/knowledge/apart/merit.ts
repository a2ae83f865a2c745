import { dot, type ExactVectors } from "./exact-vectors.js";

/** Vectors that say how near a question is to what it has nothing to do with. */
const SAMPLE = 500;
/** Standard deviations above their mean from which nearness tells anything, and from which it tells all. */
const FROM = 3;
const TO = 7;

/**
 * What nearness merits. Cosines of one model lie between .1 and .4, those of
 * another between .7 and .9: what counts is how far one stands out from those of
 * the passages in general. Among thousands some stand out by chance, and what is
 * within that merits nothing: a model that tells nothing adds nothing.
 */
export class Merits {
  readonly #known = new Map<ExactVectors, { readonly mean: number; readonly deviation: number }>();

  /** @param questions the vectors of the question, by embedder. */
  constructor(private readonly questions: Readonly<Record<string, Float32Array>>) {}

  /** What a cosine to a passage of these vectors merits, from 0 to 1. */
  of(vectors: ExactVectors, embedder: string, cosine: number): number {
    const question = this.questions[embedder];
    if (question === undefined) return 0;
    const known = this.#known.get(vectors) ?? generally(vectors, question);
    this.#known.set(vectors, known);
    if (known.deviation === 0) return 0;
    const above = (cosine - known.mean) / known.deviation;
    return Math.min(1, Math.max(0, (above - FROM) / (TO - FROM)));
  }
}

function generally(vectors: ExactVectors, question: Float32Array): { mean: number; deviation: number } {
  let [count, sum, squares] = [0, 0, 0];
  for (const one of vectors.sample(SAMPLE)) {
    const cosine = dot(question, one, 0);
    count++;
    sum += cosine;
    squares += cosine * cosine;
  }
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / count - mean * mean)) };
}
