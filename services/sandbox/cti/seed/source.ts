import type { Refs, Thing } from "../thing.js";
import type { World } from "../world.js";

const DAY_MS = 86_400_000;
/** The day before which everything built in happened. */
const EPOCH = Date.UTC(2026, 10, 1);

/** Marking definitions with the ids that STIX gives those of TLP. */
const MARKINGS: readonly (readonly [kind: string, name: string, order: number, color: string, standardId?: string])[] =
  [
    ["TLP", "TLP:CLEAR", 1, "#ffffff", "marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9"],
    ["TLP", "TLP:GREEN", 2, "#2e7d32", "marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da"],
    ["TLP", "TLP:AMBER", 3, "#d84315", "marking-definition--f88d31f6-486f-44da-b317-01333bde0b82"],
    ["TLP", "TLP:AMBER+STRICT", 4, "#d84315", "marking-definition--826578e1-40ad-459f-bc73-ede076f81f37"],
    ["TLP", "TLP:RED", 5, "#c62828", "marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed"],
    ["PAP", "PAP:CLEAR", 1, "#ffffff"],
    ["PAP", "PAP:GREEN", 2, "#2e7d32"],
    ["PAP", "PAP:AMBER", 3, "#d84315"],
    ["PAP", "PAP:RED", 4, "#c62828"],
  ];

/** How an object is made. */
export interface MakeOptions {
  readonly refs?: Partial<Refs>;
  /** Carries no marking, so that everyone sees it. */
  readonly open?: boolean;
}

/** Makes objects out of one stream of numbers: the same seed, the same objects. */
export interface Source {
  make(type: string, attributes: Record<string, unknown>, options?: MakeOptions): Thing;
  relate(from: Thing, relation: string, to: Thing): void;
  link(from: Thing, relation: string, to: Thing, attributes: Record<string, unknown>): void;
  useLabels(labels: readonly Thing[]): void;
  useAuthors(authors: readonly Thing[]): void;
  useReferences(references: readonly Thing[]): void;
  pick<T>(from: readonly T[]): T;
  /** Up to `count` different ones. */
  some<T>(from: readonly T[], count: number): T[];
  /** Both ends included. */
  int(least: number, most: number): number;
  /** True in so many percent of cases. */
  chance(percent: number): boolean;
  /** A time up to so many days before the built-in knowledge ends. */
  day(within: number): string;
  hex(length: number): string;
}

/** Makes a source over a world; its marking definitions are there at once. */
export function createSource({ graph, accounts }: World, seed: number): Source {
  const random = randomOf(seed);
  const int = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const chance = (percent: number) => random() * 100 < percent;
  const pick = <T>(from: readonly T[]): T => from[int(0, from.length - 1)] as T;
  const hex = (length: number) => Array.from({ length }, () => int(0, 15).toString(16)).join("");
  const day = (within: number) => new Date(EPOCH - int(0, within * 24) * 3_600_000).toISOString();
  const id = () => `${hex(8)}-${hex(4)}-4${hex(3)}-${pick(["8", "9", "a", "b"])}${hex(3)}-${hex(12)}`;
  const creator = accounts[0]?.id ?? id();
  const markings = MARKINGS.map(([definition_type, definition, x_opencti_order, x_opencti_color, standardId]) =>
    graph.add({
      id: id(),
      type: "Marking-Definition",
      attributes: { definition_type, definition, x_opencti_order, x_opencti_color },
      creator,
      at: new Date(EPOCH - 900 * DAY_MS).toISOString(),
      ...(standardId !== undefined && { standardId }),
    }),
  );
  const marking = (name: string) => markings.find((one) => one.attributes.definition === name)!.id;
  let labels: readonly Thing[] = [];
  let authors: readonly Thing[] = [];
  let references: readonly Thing[] = [];

  const some = <T>(from: readonly T[], count: number): T[] => {
    const chosen = new Set<T>();
    for (let tries = 0; chosen.size < Math.min(count, from.length) && tries < count * 20; tries += 1)
      chosen.add(pick(from));
    return [...chosen];
  };

  function markingsFor(): string[] {
    const roll = int(0, 99);
    const tlp =
      roll < 40
        ? undefined
        : roll < 55
          ? "TLP:CLEAR"
          : roll < 78
            ? "TLP:GREEN"
            : roll < 91
              ? "TLP:AMBER"
              : roll < 95
                ? "TLP:AMBER+STRICT"
                : "TLP:RED";
    return [...(tlp === undefined ? [] : [marking(tlp)]), ...(chance(10) ? [marking("PAP:GREEN")] : [])];
  }

  return {
    make(type, attributes, { refs = {}, open = false } = {}) {
      const meta = ["Label", "Kill-Chain-Phase", "External-Reference"].includes(type);
      const given: Partial<Refs> = meta
        ? {}
        : {
            markings: open ? [] : markingsFor(),
            labels: some(labels, int(0, 2)).map((label) => label.id),
            author: authors.length > 0 && chance(60) ? pick(authors).id : undefined,
            externalReferences: references.length > 0 && chance(25) ? [pick(references).id] : [],
          };
      const confidence = meta ? {} : { confidence: pick([40, 50, 60, 70, 75, 80, 90]) };
      return graph.add({
        id: id(),
        type,
        attributes: { ...confidence, ...attributes },
        refs: { ...given, ...refs },
        creator,
        at: day(400),
      });
    },
    relate(from, relation, to) {
      if (from === to) return;
      const start = day(400);
      const stop = new Date(Date.parse(start) + int(5, 90) * DAY_MS).toISOString();
      const attributes = { description: "", start_time: start, stop_time: stop, confidence: pick([40, 60, 75, 90]) };
      graph.add({
        id: id(),
        type: relation,
        attributes,
        ends: { from: from.id, to: to.id, relation },
        creator,
        at: day(300),
      });
    },
    link(from, relation, to, attributes) {
      graph.add({
        id: id(),
        type: relation,
        attributes,
        ends: { from: from.id, to: to.id, relation },
        creator,
        at: day(90),
      });
    },
    useLabels: (given) => {
      labels = given;
    },
    useAuthors: (given) => {
      authors = given;
    },
    useReferences: (given) => {
      references = given;
    },
    pick,
    some,
    int,
    chance,
    day,
    hex,
  };
}

/** A small generator of even quality (mulberry32), from 0 to below 1. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** So many, made one after the other. */
export const range = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** A time so many days after another. */
export const later = (date: string, days: number): string => new Date(Date.parse(date) + days * DAY_MS).toISOString();
