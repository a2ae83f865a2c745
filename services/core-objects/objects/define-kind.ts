import type { Message, MessageInitShape } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Caller } from "../../shared/rpc/call.js";
import { type Method, unary } from "../../shared/rpc/method.js";
import type { IndexSpec, Migration } from "../../shared/store/store.js";
import type { Capability, Context, Kind } from "../context.js";
import type { ObjectRecord, Own, Shipped } from "../record.js";
import { createObject } from "./create.js";
import { type Deletion, deleteObject } from "./delete.js";
import { getObject, type Show } from "./get.js";
import type { Leaving } from "./leaving.js";
import { listObjects } from "./list.js";
import type {
  CreateRequest,
  DeleteRequest,
  DeleteResponse,
  ListRequest,
  ListResponse,
  Naming,
  One,
  Rpc,
  Shown,
  UpdateRequest,
} from "./messages.js";
import type { Model, Refer } from "./model.js";
import { snakeOf } from "./names.js";
import type { Reseal } from "./secrets.js";
import { updateObject } from "./update.js";
import type { Writer } from "./writer.js";

/** The names of a record's own fields. */
type Field<R extends ObjectRecord> = keyof Own<R> & string;

/**
 * The fields that a list may leave out: texts, and what the message does not
 * show. A list of items that it shows would be missing where it is read.
 */
type Omittable<R extends ObjectRecord, V extends Message> = {
  [field in Field<R>]: R[field] extends string ? field : CamelField<field> extends keyof V ? never : field;
}[Field<R>];

/** A field of a record as a member of its message is named: instructions_url is instructionsUrl. */
type CamelField<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelField<Rest>>}`
  : Name;

/** What an update changes of a record. */
type Changes<R extends ObjectRecord> = Partial<Own<R> & Pick<R, "name">>;

/** The members of a message that its kind adds: all of them, so that none is forgotten. */
type OwnMembers<V extends Message> = {
  [member in Exclude<keyof V, keyof Shown | keyof Message>]-?:
    | Exclude<MessageInitShape<GenMessage<V>>, V>[member & keyof MessageInitShape<GenMessage<V>>]
    | undefined;
};

/**
 * What one kind of object is: its folder in `kinds/` says it once. The methods
 * that it lists are answered as everywhere, the compiler compares its messages
 * with what they need.
 *
 * @typeParam R its record; @typeParam V the message that shows it; @typeParam F
 * its fields that refer to other kinds; @typeParam C, U and G its requests to
 * create, update and get.
 */
export interface Definition<
  N extends string,
  P extends string,
  R extends ObjectRecord,
  V extends Message & Shown,
  F extends string,
  C extends Message & CreateRequest,
  U extends Message & UpdateRequest & Naming<N>,
  G extends Message & Naming<N>,
> {
  /** One in words, such as "agent": names the members of its messages, its tools in errors, and the kind to others. */
  readonly noun: N;
  /** Several in words: names the member of a list, and with `_` the collection. */
  readonly plural: P;
  /** The message that shows one. */
  readonly message: GenMessage<V>;
  /** The members that the kind adds to the message. `refer` shows what a field of `references` refers to. */
  readonly view: (record: R, refer: Readonly<Record<F, Refer[string]>>) => OwnMembers<V>;
  /**
   * The noun of the kind that a field, or a field of its items, refers to. It is checked, shown by name, and not
   * deleted while referred to.
   */
  readonly references?: Readonly<Record<F, string>>;
  /** How each of these references is taken away, in words that name a tool and its argument: refusals say it. */
  readonly detaching?: Readonly<Record<F, string>>;
  /** A user with whom one is shared also needs the objects that it refers to: sharing names or shares them. */
  readonly hasParts?: true;
  /** Seals again what is sealed of one, where something is. */
  readonly reseal?: Reseal<R>;
  /** Whether a change has what it refers to used elsewhere, so that who makes it must see all of that. */
  readonly leadsElsewhere?: (before: R, after: R) => boolean;
  /** How many items a field holds at most. */
  readonly limits?: { readonly [field in Field<R>]?: number };
  /**
   * `without`: the fields that a list leaves out, which `view` then does not find. `hidden`: the members that it does
   * not show, because `get` does. `named`: the references that it shows, with their names. `description`: how many
   * characters of it.
   */
  readonly list?: {
    readonly rpc: Rpc<ListRequest, ListResponse<P, V>>;
    readonly without?: readonly Omittable<R, V>[];
    readonly hidden?: readonly (keyof V & string)[];
    readonly named?: readonly F[];
    readonly description?: number;
  };
  /** `show`: what is answered, if it is not the object alone; `shown` makes a message of a record. */
  readonly get?: {
    readonly rpc: Rpc<G, One<N, V>>;
    readonly show?: (request: G, record: R, caller: Caller, shown: (record: R) => Promise<V>) => Promise<object>;
  };
  /** `content`: the fields that the kind adds. */
  readonly create?: {
    readonly rpc: Rpc<C, One<N, V>>;
    readonly content: (request: C, writer: Writer) => Own<R> | Promise<Own<R>>;
  };
  /** `changes`: those of the kind's fields, and of the name, that the request changes. */
  readonly update?: {
    readonly rpc: Rpc<U, One<N, V>>;
    readonly changes: (request: U, current: R, writer: Writer) => Changes<R> | Promise<Changes<R>>;
  };
  readonly delete?: { readonly rpc: Rpc<Naming<N> & DeleteRequest, DeleteResponse> } & Deletion<R>;
  /** The rpcs that only this kind has. */
  readonly commands?: (context: Context) => readonly Method[];
  /** What becomes of one whose owner leaves. */
  readonly leaving?: Leaving<R>;
  /** What a caller can reach by holding some of these. */
  readonly capabilities?: readonly Capability[];
  /** Indexes for its own queries. */
  readonly indexes?: readonly IndexSpec[];
  /** Only ever appended to. */
  readonly migrations?: readonly Migration[];
  /** Reads what ships in `builtin/<plural>/`: one file or folder. @throws Error that names file and line. */
  readonly readBuiltin?: (path: string) => Shipped<R>;
}

const LABELS = 50;

// `access` leads every read; unique indexes begin with what a cluster would be
// sharded by.
const INDEXES: readonly IndexSpec[] = [
  { name: "access", key: { access: 1, _id: -1 } },
  { name: "request", key: { owner: 1, request: 1 }, unique: true },
  { name: "origin", key: { access: 1, origin: 1, _id: -1 } },
  { name: "labels", key: { labels: 1, _id: -1 } },
];

/** Makes a kind of its definition. */
export function defineKind<
  const N extends string,
  const P extends string,
  R extends ObjectRecord,
  V extends Message & Shown,
  F extends Field<R> | `${Field<R>}.${string}` = never,
  C extends Message & CreateRequest = never,
  U extends Message & UpdateRequest & Naming<N> = never,
  G extends Message & Naming<N> = never,
>(definition: Definition<N, P, R, V, F, C, U, G>): Kind {
  const { noun, plural, list, get, create, update, commands } = definition;
  const references: Readonly<Record<string, string>> = definition.references ?? {};
  const model = {
    noun,
    plural,
    message: definition.message,
    view: definition.view,
    references,
    reseal: definition.reseal,
    leadsElsewhere: definition.leadsElsewhere,
    limits: { labels: LABELS, ...definition.limits },
  } as unknown as Model;
  const indexes: IndexSpec[] = Object.keys(references).map((field) => ({ name: field, key: { [field]: 1 } }));
  if (definition.reseal !== undefined) indexes.push({ name: "sealed_with", key: { sealed_with: 1 } });
  return {
    noun,
    plural,
    references,
    detaching: definition.detaching ?? {},
    hasParts: definition.hasParts ?? false,
    collection: {
      name: snakeOf(plural),
      indexes: [...INDEXES, ...indexes, ...(definition.indexes ?? [])],
      migrations: definition.migrations ?? [],
    },
    capabilities: definition.capabilities ?? [],
    reseal: definition.reseal as Kind["reseal"],
    leaving: (definition.leaving ?? {}) as Kind["leaving"],
    readBuiltin: definition.readBuiltin as Kind["readBuiltin"],
    routes: (context) => [
      ...(list ? [route(context, list.rpc, listObjects(model, list.rpc.output, list))] : []),
      ...(get ? [route(context, get.rpc, getObject(model, get.show as Show | undefined))] : []),
      ...(create ? [route(context, create.rpc, createObject(model, create.content))] : []),
      ...(update ? [route(context, update.rpc, updateObject(model, update.rpc.input, update.changes as never))] : []),
      ...(definition.delete
        ? [
            route(
              context,
              definition.delete.rpc,
              deleteObject(model, definition.delete as unknown as Deletion<ObjectRecord>),
            ),
          ]
        : []),
      ...(commands?.(context) ?? []),
    ],
  };
}

/** The compiler has compared the rpc's messages with what the command takes and gives in {@link Definition}. */
function route<Request>(
  context: Context,
  rpc: Rpc<object, object>,
  command: (
    context: Context,
    request: Request,
    call: Parameters<Parameters<typeof unary>[1]>[1],
  ) => Promise<object> | object,
): Method {
  return unary(rpc, (request, call) => command(context, request as Request, call));
}
