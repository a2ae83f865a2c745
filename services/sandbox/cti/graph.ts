import { randomUUID } from "node:crypto";
import { v5 as uuidv5 } from "uuid";
import type { Account } from "./account.js";
import { kindOf } from "./kinds.js";
import { observableKindOf, observableValueOf } from "./observables.js";
import { isVisible } from "./rights.js";
import { aliasesOf, type Ends, noRefs, type Refs, type Thing, text } from "./thing.js";

/** The namespace of deterministic STIX ids (STIX 2.1 §2.9). */
const STIX_NAMESPACE = "00abedb4-aa42-466c-9c01-fed23315a9b7";

/** An element that is being added; ids and times are made where left out. */
export interface NewThing {
  readonly type: string;
  readonly attributes: Record<string, unknown>;
  readonly refs?: Partial<Refs>;
  readonly ends?: Ends;
  readonly id?: string;
  /** Where it is given elsewhere, as those of TLP are. */
  readonly standardId?: string;
  readonly at?: string;
  readonly creator: string;
  readonly draft?: string | undefined;
}

/** Everything the platform holds, in memory, with the look-ups it needs. */
export class Graph {
  readonly things = new Map<string, Thing>();
  private readonly byStandardId = new Map<string, string>();
  private readonly byEnd = new Map<string, Set<string>>();

  add(made: NewThing): Thing {
    const at = made.at ?? new Date().toISOString();
    const thing: Thing = {
      id: made.id ?? randomUUID(),
      standardId: "",
      type: made.type,
      types: typesOf(made.type, made.ends),
      attributes: made.attributes,
      refs: { ...noRefs(), ...made.refs },
      ...(made.ends !== undefined && { ends: made.ends }),
      createdAt: at,
      updatedAt: at,
      creator: made.creator,
      draft: made.draft,
    };
    thing.standardId = made.standardId ?? standardIdOf(thing);
    return this.put(thing);
  }

  /** Takes an element as it is, with its ids. */
  put(thing: Thing): Thing {
    this.things.set(thing.id, thing);
    this.byStandardId.set(thing.standardId, thing.id);
    for (const end of endsOf(thing)) this.byEnd.set(end, (this.byEnd.get(end) ?? new Set()).add(thing.id));
    return thing;
  }

  /** Looks up by internal or STIX id. */
  get(id: string): Thing | undefined {
    return this.things.get(id) ?? this.things.get(this.byStandardId.get(id) ?? "");
  }

  /** What the account may see of it in the draft, or live. */
  see(id: string | undefined, account: Account, draft: string | undefined): Thing | undefined {
    const thing = id === undefined ? undefined : this.get(id);
    return thing !== undefined && isVisible(thing, account, draft) ? thing : undefined;
  }

  /** Sets its STIX id anew, after what it is made of has changed. */
  touch(thing: Thing): void {
    thing.updatedAt = new Date().toISOString();
    const standardId = standardIdOf(thing);
    if (standardId === thing.standardId || thing.type === "Note") return;
    this.byStandardId.delete(thing.standardId);
    thing.standardId = standardId;
    this.byStandardId.set(standardId, thing.id);
  }

  /** Removes it with its relationships, and from every container. */
  remove(thing: Thing): void {
    for (const id of this.byEnd.get(thing.id) ?? []) {
      const relationship = this.things.get(id);
      if (relationship !== undefined) this.remove(relationship);
    }
    for (const end of endsOf(thing)) this.byEnd.get(end)?.delete(thing.id);
    this.byEnd.delete(thing.id);
    this.things.delete(thing.id);
    this.byStandardId.delete(thing.standardId);
    for (const other of this.things.values()) {
      const { objects, externalReferences, labels } = other.refs;
      for (const list of [objects, externalReferences, labels]) {
        const at = list.indexOf(thing.id);
        if (at >= 0) list.splice(at, 1);
      }
    }
  }

  relationsOf(id: string): Thing[] {
    return [...(this.byEnd.get(id) ?? [])].map((one) => this.things.get(one)).filter((one) => one !== undefined);
  }

  /** Another element that has this name or alias, in any case, within the same kind. */
  namesake(type: string, names: readonly string[]): Thing | undefined {
    const wanted = new Set(names.map((name) => name.trim().toLowerCase()));
    for (const thing of this.things.values()) {
      if (thing.type !== type) continue;
      const own = [text(thing, "name") ?? "", ...aliasesOf(thing)];
      if (own.some((name) => wanted.has(name.trim().toLowerCase()))) return thing;
    }
    return undefined;
  }

  containersOf(id: string): Thing[] {
    return [...this.things.values()].filter((thing) => thing.refs.objects.includes(id));
  }
}

function endsOf(thing: Thing): readonly string[] {
  return thing.ends === undefined ? [] : [thing.ends.from, thing.ends.to];
}

const META = ["Marking-Definition", "Label", "External-Reference", "Kill-Chain-Phase", "Vocabulary", "DraftWorkspace"];

function typesOf(type: string, ends: Ends | undefined): readonly string[] {
  if (type === "stix-sighting-relationship") return [type, "stix-relationship"];
  if (ends !== undefined) return [type, "stix-core-relationship", "stix-relationship"];
  if (META.includes(type)) return [type, "Stix-Meta-Object"];
  const kind = kindOf(type);
  if (kind !== undefined) return [type, ...kind.parents, "Stix-Domain-Object", "Stix-Core-Object", "Stix-Object"];
  return [type, "Stix-Cyber-Observable", "Stix-Core-Object", "Stix-Object"];
}

const META_STIX: Readonly<Record<string, string>> = { DraftWorkspace: "draftworkspace" };

function standardIdOf(thing: Thing): string {
  const { type, attributes, ends } = thing;
  const made = (prefix: string, of: unknown) => `${prefix}--${uuidv5(JSON.stringify({ type, of }), STIX_NAMESPACE)}`;
  if (type === "stix-sighting-relationship") return made("sighting", [ends, attributes.first_seen]);
  if (ends !== undefined) return made("relationship", [ends, attributes.start_time, attributes.stop_time]);
  if (type === "Note" || type === "Opinion") return `${type.toLowerCase()}--${thing.id}`;
  const kind = kindOf(type);
  if (kind !== undefined) {
    if (type === "Indicator") return made(kind.stix, attributes.pattern);
    if (type === "Report") return made(kind.stix, [lower(attributes.name), attributes.published]);
    if (type === "Grouping") return made(kind.stix, [lower(attributes.name), attributes.context, thing.createdAt]);
    if (type === "Task" || kind.parents.includes("Case")) {
      return made(kind.stix, [lower(attributes.name), thing.createdAt]);
    }
    return made(kind.stix, lower(attributes.name ?? attributes.result_name ?? attributes.first_observed));
  }
  const observable = observableKindOf(type);
  if (observable !== undefined)
    return made(observable.stix, valueKeyOf(type, observableValueOf(observable, attributes)));
  const key = attributes.value ??
    attributes.definition ??
    attributes.name ?? [
      attributes.source_name,
      attributes.url,
      attributes.external_id,
      attributes.kill_chain_name,
      attributes.phase_name,
    ];
  return made(META_STIX[type] ?? type.toLowerCase(), lower(key));
}

/** Domain names are one whatever their case. */
const valueKeyOf = (type: string, value: string): string =>
  ["Domain-Name", "Hostname", "Email-Addr"].includes(type) ? value.toLowerCase() : value;

const lower = (value: unknown): unknown => (typeof value === "string" ? value.trim().toLowerCase() : value);
