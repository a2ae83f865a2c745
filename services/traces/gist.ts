import { conventionOf, NO_RANK, SLOTS, type Slot } from "./fact-keys.js";
import { inWordsOf, ownsTokens } from "./gen-ai.js";
import type { Glance } from "./glance.js";
import { compareHeads, HEAD_BYTES, idIn, orderIn } from "./head.js";
import { agentIn } from "./lang-chain-agent.js";
import { previewOf } from "./preview.js";
import { MAX_NAME, tokensIn } from "./span.js";
import type { FieldRecord, FirstInput } from "./store.js";

/** What spans of one trace that came together add up to. */
export interface Gist {
  readonly spans: number;
  readonly errors: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** By id and name, either of them may be "". */
  readonly agents: readonly Agent[];
  readonly sources: readonly string[];
  readonly models: readonly string[];
  readonly tools: readonly string[];
  /** The name of the one that began first, and when that was, in milliseconds. */
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The outermost span. */
  readonly root: About | undefined;
  /** The first that began of those with a parent elsewhere. */
  readonly local: About | undefined;
  readonly firstInput: FirstInput | undefined;
}

interface Agent {
  readonly id: string;
  readonly name: string;
}

/** What a trace shows of one of its spans. */
export interface About {
  readonly name: string;
  readonly root: string;
  readonly fields: readonly FieldRecord[];
}

const slot = (name: Slot): number => SLOTS.indexOf(name);
const [AGENT_ID, AGENT_NAME, OPERATION, MODEL, TOOL, INPUT_TOKENS, OUTPUT_TOKENS, INPUT, OUTPUT, METADATA] = [
  slot("agentId"),
  slot("agentName"),
  slot("operation"),
  slot("model"),
  slot("tool"),
  slot("inputTokens"),
  slot("outputTokens"),
  slot("input"),
  slot("output"),
  slot("metadata"),
];

/** Adds up spans of one trace as they are read. */
export class GistSums {
  #spans = 0;
  #errors = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #endedAt = 0;
  #name = "";
  #startedAt = 0;
  #root: About | undefined;
  #local: About | undefined;
  #firstInput: FirstInput | undefined;
  readonly #agents = new Map<string, Agent>();
  readonly #sources = new Set<string>();
  readonly #models = new Set<string>();
  readonly #tools = new Set<string>();
  readonly #first = Buffer.alloc(HEAD_BYTES);
  readonly #firstLocal = Buffer.alloc(HEAD_BYTES);
  readonly #firstWithInput = Buffer.alloc(HEAD_BYTES);

  /** @param nth which event it is; 0 for a span. */
  add(glance: Glance, heads: Buffer, at: number, source: string, nth: number): void {
    const startedAt = msOf(glance.start);
    this.#endedAt = Math.max(this.#endedAt, startedAt + durationOf(glance));
    if (this.#spans === 0 || compareHeads(heads, at, this.#first, 0) < 0) {
      heads.copy(this.#first, 0, at, at + HEAD_BYTES);
      this.#name = nameOf(glance);
      this.#startedAt = startedAt;
    }
    this.#spans++;
    if (glance.isFailed) this.#errors++;
    if (source !== "") this.#sources.add(source);
    this.#addFacts(glance, nth > 0);
    if (nth === 0) this.#addOutermost(glance, heads, at);
    this.#addInput(glance, heads, at);
  }

  get gist(): Gist {
    return {
      ...{ spans: this.#spans, errors: this.#errors },
      ...{ inputTokens: this.#inputTokens, outputTokens: this.#outputTokens },
      agents: [...this.#agents.values()],
      ...{ sources: [...this.#sources], models: [...this.#models], tools: [...this.#tools] },
      ...{ name: this.#name, startedAt: this.#startedAt, endedAt: this.#endedAt },
      ...{ root: this.#root, local: this.#local, firstInput: this.#firstInput },
    };
  }

  #addFacts(glance: Glance, isEvent: boolean): void {
    const id = wordOf(glance, AGENT_ID);
    const name = wordOf(glance, AGENT_NAME) || previewOf(agentIn(glance.textOf(METADATA)), MAX_NAME);
    if (id !== "" || name !== "") this.#agents.set(`${id.length} ${id}${name}`, { id, name });
    const model = wordOf(glance, MODEL);
    if (model !== "") this.#models.add(model);
    if (isEvent) return;
    const operation = operationIn(glance);
    if (operation === "" || operation === "execute_tool") {
      const tool = wordOf(glance, TOOL);
      if (tool !== "") this.#tools.add(tool);
    }
    if (!ownsTokens(operation)) return;
    this.#inputTokens += tokensIn(wordOf(glance, INPUT_TOKENS));
    this.#outputTokens += tokensIn(wordOf(glance, OUTPUT_TOKENS));
  }

  #addOutermost(glance: Glance, heads: Buffer, at: number): void {
    if (!glance.hasParent) this.#root ??= aboutOf(glance, idIn(heads, at));
    else if (glance.isRemote && (this.#local === undefined || compareHeads(heads, at, this.#firstLocal, 0) < 0)) {
      heads.copy(this.#firstLocal, 0, at, at + HEAD_BYTES);
      this.#local = aboutOf(glance, idIn(heads, at));
    }
  }

  #addInput(glance: Glance, heads: Buffer, at: number): void {
    if (glance.rankOf(INPUT) === NO_RANK) return;
    if (this.#firstInput !== undefined && compareHeads(heads, at, this.#firstWithInput, 0) >= 0) return;
    heads.copy(this.#firstWithInput, 0, at, at + HEAD_BYTES);
    const input = fieldOf("input", glance.textOf(INPUT));
    this.#firstInput = { ...input, span_id: idIn(heads, at), order: orderIn(heads, at) };
  }
}

/** When a span began, in milliseconds. */
export function msOf({ high, low }: Glance["start"]): number {
  // 2^32 is 4294 million and 967296: each step is within 53 bits.
  return high * 4_294 + Math.floor((high * 967_296 + low) / 1e6);
}

/** How long it took, in milliseconds. */
export function durationOf({ start, end }: Glance): number {
  return ((end.high - start.high) * 2 ** 32 + (end.low - start.low)) / 1e6;
}

/** The id of the agent that a span names; "" if it names none. */
export function agentIdIn(glance: Glance): string {
  return wordOf(glance, AGENT_ID);
}

/** How many of its fields are there under a second name. */
export function namedTwice(glance: Glance): number {
  return [INPUT, OUTPUT].filter((one) => glance.rankOf(one) !== NO_RANK).length;
}

function nameOf(glance: Glance): string {
  return previewOf(glance.name, MAX_NAME);
}

function wordOf(glance: Glance, slot: number): string {
  return previewOf(glance.textOf(slot) ?? "", MAX_NAME);
}

function operationIn(glance: Glance): string {
  const word = glance.textOf(OPERATION);
  return word === undefined ? "" : inWordsOf(conventionOf(glance.rankOf(OPERATION)), word);
}

function aboutOf(glance: Glance, id: string): About {
  const told = (name: string, slot: number): FieldRecord[] => {
    const text = glance.textOf(slot);
    return text === undefined ? [] : [fieldOf(name, text)];
  };
  const error = glance.isFailed ? [fieldOf("error", glance.message)] : [];
  return { name: nameOf(glance), root: id, fields: [...told("input", INPUT), ...told("output", OUTPUT), ...error] };
}

function fieldOf(field: string, text = ""): FieldRecord {
  return { field, preview: previewOf(text), bytes: Buffer.byteLength(text) };
}
