import { accident, forbidden, functional, unsupported } from "../errors.js";
import { KINDS, kindOf } from "../kinds.js";
import { observableKindOf, patternOf } from "../observables.js";
import { can } from "../rights.js";
import type { Thing } from "../thing.js";
import { basedOn } from "../views/fields.js";
import { mainOf } from "../views/names.js";
import { see, type Visit } from "../world.js";
import { createDomainObject, createGeneric, createLabel, createObservable, type Input } from "./create.js";
import { createReference } from "./create-reference.js";
import { createRelationship, createSighting } from "./create-relationship.js";
import { withDecay } from "./decay.js";
import { type Commit, type EditInput, patchFields } from "./edit.js";
import { addReference, addReferences, removeReference } from "./edit-references.js";
import { meOf, type Resolver } from "./queries.js";
import { found, merge, purge, remove } from "./remove.js";

type Id = { readonly id: string };

interface RefInput {
  readonly toId?: string;
  readonly relationship_type: string;
}

/** What an edit answers of one element; `lookup` finds it anew each time, since one edit may delete it. */
function editor(id: string, type: string, what: string, visit: Visit) {
  const lookup = (action: "edit the field" | "delete the object") => found(see(visit, id, type), action, what, id);
  return {
    delete: () => {
      remove(lookup("delete the object"), visit);
      return id;
    },
    fieldPatch: ({ input, ...commit }: { input: readonly EditInput[] } & Commit) =>
      patchFields(lookup("edit the field"), input, commit, visit),
    relationAdd: ({ input }: { input: RefInput }) =>
      addReference(lookup("edit the field"), input.toId ?? "", input.relationship_type, visit),
    relationsAdd: ({ input, ...commit }: { input: { toIds: readonly string[]; relationship_type: string } } & Commit) =>
      addReferences(lookup("edit the field"), input.toIds, input.relationship_type, commit, visit),
    relationDelete: ({ toId, relationship_type }: { toId: string; relationship_type: string }) =>
      removeReference(lookup("edit the field"), toId, relationship_type, visit),
  };
}

const edit =
  (type: string, what = type): Resolver =>
  ({ id }: Id, visit) =>
    editor(id, type, what, visit);

/** Notes and opinions are also changed by those who wrote them and may take part; what is hidden is an accident. */
function remarkEdit(type: string): Resolver {
  return ({ id }: Id, visit) => {
    const { account } = visit;
    const check = () => {
      const thing = see(visit, id, type);
      if (thing === undefined) throw accident("Cannot read properties of null (reading 'created-by')");
      const own = thing.refs.author === visit.graph.namesake("Individual", [account.name])?.id;
      if (!can(account, "KNOWLEDGE_KNUPDATE") && !(own && can(account, "KNOWLEDGE_KNPARTICIPATE"))) throw forbidden();
    };
    const { delete: remove, fieldPatch } = editor(id, type, "Stix-Domain-Object", visit);
    return {
      delete: () => {
        check();
        return remove();
      },
      fieldPatch: (args: { input: readonly EditInput[] } & Commit) => {
        check();
        return fieldPatch(args);
      },
    };
  };
}

function relationshipEdit(type: string): Resolver {
  return ({ id }: Id, visit) => ({
    ...editor(id, type, type, visit),
    delete: () => {
      const thing = see(visit, id, type);
      if (thing === undefined) throw accident("Cannot read properties of undefined (reading 'relationship_type')");
      remove(thing, visit);
      return id;
    },
  });
}

/** Makes the indicator of an observable, or finds the one that has its pattern. */
function promote(observable: Thing, visit: Visit): Thing {
  const kind = observableKindOf(observable.type);
  const indicator = kindOf("Indicator");
  if (kind === undefined || indicator === undefined) throw functional("cant generate pattern");
  const { refs, attributes } = observable;
  const made = createDomainObject(
    indicator,
    {
      name: mainOf(observable, visit.graph),
      pattern: patternOf(kind, attributes),
      pattern_type: "stix",
      x_opencti_main_observable_type: kind.type,
      x_opencti_score: (attributes.x_opencti_score ?? 50) as number,
      description: attributes.x_opencti_description ?? null,
      createdBy: refs.author ?? null,
      objectMarking: refs.markings,
      objectLabel: refs.labels,
    },
    { ...visit, strict: false },
  );
  createRelationship({ fromId: made.id, toId: observable.id, relationship_type: "based-on" }, visit);
  return made;
}

/** What its writer is the author of where nobody else is named. */
const OWNED = ["Note", "Opinion", "Case-Incident", "Case-Rfi", "Case-Rft"];

/** Who writes a note is its author: an individual of the account's name, made the first time. */
function authorOf(visit: Visit): string {
  const { name } = visit.account;
  return (
    visit.graph.namesake("Individual", [name])?.id ??
    createDomainObject(kindOf("Individual")!, { name } as Input, visit).id
  );
}

const KIND_MUTATIONS: Readonly<Record<string, Resolver>> = Object.fromEntries(
  KINDS.map((kind): [string, Resolver] => [
    `${kind.get}Add`,
    ({ input }: { input: Input }, visit) => {
      const made = createDomainObject(
        kind,
        OWNED.includes(kind.type) ? { ...input, createdBy: input.createdBy ?? authorOf(visit) } : input,
        visit,
      );
      for (const toId of kind.type === "Indicator" ? ((input.basedOn ?? []) as string[]) : [])
        createRelationship({ fromId: made.id, toId, relationship_type: "based-on" }, visit);
      return made;
    },
  ]),
);

/** The fields of Mutation. */
export const MUTATIONS: Readonly<Record<string, Resolver>> = {
  ...KIND_MUTATIONS,
  meEdit: ({ input }: { input: readonly EditInput[] }, visit) => {
    for (const { key, value } of input) {
      if (key !== "draft_context") throw unsupported("Only the draft can be changed here", { key });
      visit.account.draft = value[0] ? String(value[0]) : undefined;
    }
    return meOf(visit);
  },
  draftWorkspaceAdd: ({ input }, { graph, account }) =>
    graph.add({ type: "DraftWorkspace", attributes: { name: input.name }, creator: account.id }),
  labelAdd: ({ input }, visit) => createLabel(input, visit),
  killChainPhaseAdd: ({ input }, { graph, account }) =>
    graph.add({ type: "Kill-Chain-Phase", attributes: { ...input }, creator: account.id }),
  externalReferenceAdd: ({ input }, visit) => createReference(input, visit),
  stixDomainObjectAdd: ({ input }, visit) => createGeneric(input, visit),
  stixCyberObservableAdd: (args, visit) => {
    const observable = createObservable(args, visit);
    if (args.createIndicator === true) promote(observable, visit);
    return observable;
  },
  stixDomainObjectEdit: edit("Stix-Domain-Object"),
  stixCoreObjectEdit: edit("Stix-Core-Object"),
  stixCyberObservableEdit: ({ id }: Id, visit) => ({
    ...editor(id, "Stix-Cyber-Observable", "Stix-Cyber-Observable", visit),
    // A new score goes to every indicator based on the observable, after the observable has it.
    fieldPatch: ({ input, ...commit }: { input: readonly EditInput[] } & Commit) => {
      const observable = found(see(visit, id, "Stix-Cyber-Observable"), "edit the field", "Stix-Cyber-Observable", id);
      patchFields(observable, input, commit, visit);
      const scores = input.filter(({ key }) => key === "x_opencti_score");
      for (const indicator of scores.length === 0 ? [] : basedOn(observable, "from", visit))
        patchFields(indicator, scores, commit, visit);
      return observable;
    },
    promoteToIndicator: () => {
      const observable = see(visit, id, "Stix-Cyber-Observable");
      if (observable === undefined) throw functional("Cannot promote the observable, cant generate pattern", { id });
      return promote(observable, visit);
    },
  }),
  stixEdit: ({ id }: Id, visit) => ({
    merge: ({ stixObjectsIds }: { stixObjectsIds: readonly string[] }) =>
      merge(see(visit, id, "Stix-Domain-Object"), stixObjectsIds, visit),
  }),
  containerEdit: edit("Container"),
  reportEdit: ({ id }: Id, visit) => ({
    delete: ({ purgeElements }: { purgeElements?: boolean | null }) => {
      const report = found(see(visit, id, "Report"), "delete the object", "Report", id);
      if (purgeElements === true) purge(report, visit);
      else remove(report, visit);
      return id;
    },
  }),
  noteEdit: remarkEdit("Note"),
  opinionEdit: remarkEdit("Opinion"),
  userNoteAdd: ({ input }, visit) =>
    createDomainObject(kindOf("Note")!, { ...input, createdBy: input.createdBy ?? authorOf(visit) }, visit),
  indicatorFieldPatch: ({ id, input, ...commit }, visit) => {
    const indicator = found(see(visit, id, "Indicator"), "edit the field", "Indicator", id);
    return patchFields(indicator, withDecay(indicator, input), commit, visit);
  },
  indicatorDelete: ({ id }: Id, visit) => {
    remove(found(see(visit, id, "Indicator"), "delete the object", "Stix-Domain-Object", id), visit);
    return id;
  },
  stixCoreRelationshipAdd: ({ input }, visit) => createRelationship(input, visit),
  stixCoreRelationshipEdit: relationshipEdit("stix-core-relationship"),
  // Answers true also where there was none.
  stixCoreRelationshipDelete: ({ fromId, toId, relationship_type }, visit) => {
    const { graph, account, draft } = visit;
    const [from, to] = [graph.see(fromId, account, draft), graph.see(toId, account, draft)];
    for (const thing of from === undefined ? [] : graph.relationsOf(from.id)) {
      if (thing.ends?.from === from?.id && thing.ends?.to === to?.id && thing.ends?.relation === relationship_type)
        remove(thing, visit);
    }
    return true;
  },
  stixSightingRelationshipAdd: ({ input }, visit) => createSighting(input, visit),
  stixSightingRelationshipEdit: relationshipEdit("stix-sighting-relationship"),
};
