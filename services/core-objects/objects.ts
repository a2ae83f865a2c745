import { randomBytes } from "node:crypto";
import type { Filter, OptionalUnlessRequiredId, UpdateFilter } from "mongodb";
import { v7 as uuid } from "uuid";
import type { Caller } from "../shared/rpc/call.js";
import { aborted, invalidArgument, notFound, permissionDenied } from "../shared/rpc/errors.js";
import { pageTokenOf, positionOf } from "../shared/rpc/page-token.js";
import { type DocCollection, isDuplicateKey } from "../shared/store/store.js";
import { type Action, accessOf, filterOf, type Grant, may, type Origin } from "./policy.js";
import type { ObjectRecord } from "./store.js";

/** The fields of an object that its kind adds or its creator chooses. */
export type Content<T extends ObjectRecord> = Omit<T, Exclude<keyof ObjectRecord, Chosen>>;
type Chosen = "name" | "description" | "tags" | "enabled";

/** What is decided once, when an object is created. */
export interface Creation {
  readonly companyManaged: boolean;
  readonly acl: readonly Grant[];
  /** The caller's own id for this creation; "" for none. */
  readonly requestId: string;
}

/** Which objects of those that the caller can read, and which page of them. */
export interface Selection {
  readonly search: string;
  readonly tags: readonly string[];
  readonly origin?: Origin | undefined;
  readonly pageSize: number;
  readonly pageToken: string;
  /** Fields that the list does not need. */
  readonly without: readonly string[];
}

/** One page of a list. */
export interface Page<T> {
  readonly items: T[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

/** One kind of object, behind its gates: nothing is read or written but what the caller may. */
export interface Objects<T extends ObjectRecord> {
  /** @throws ConnectError permission_denied for a company-managed one by a non-administrator. */
  create(caller: Caller, content: Content<T>, creation: Creation): Promise<T>;
  /** @throws ConnectError not_found, also for what the caller cannot read. */
  get(caller: Caller, id: string): Promise<T>;
  list(caller: Caller, selection: Selection): Promise<Page<T>>;
  /**
   * Changes an object to what `change` makes of it, again when somebody else
   * changed it in between.
   *
   * @param etag what the caller has seen; "" for whatever there is.
   * @throws ConnectError not_found, permission_denied, or aborted for another etag.
   */
  update(
    caller: Caller,
    id: string,
    etag: string,
    action: Action,
    change: (current: T) => Promise<Partial<T>> | Partial<T>,
  ): Promise<T>;
  /** @throws ConnectError as update does, and what `check` throws. */
  remove(caller: Caller, id: string, etag: string, check?: (current: T) => Promise<void>): Promise<void>;
}

const ATTEMPTS = 8;

/** @param noun what one is called in messages, such as "agent". */
export function createObjects<T extends ObjectRecord>(collection: DocCollection<T>, noun: string): Objects<T> {
  const where = (filter: object): Filter<T> => filter as Filter<T>;

  async function get(caller: Caller, id: string): Promise<T> {
    const found = await collection.findOne(where({ _id: id, ...filterOf(caller, "read") }));
    if (found === null) throw notFound(`no ${noun} that you can see has the id ${id}`);
    return found;
  }

  /** What the caller may act upon, as it is now. */
  async function open(caller: Caller, id: string, etag: string, action: Action): Promise<T> {
    const current = await get(caller, id);
    if (!may(caller, action, current)) throw permissionDenied(refusalOf(current, action, noun));
    if (etag !== "" && current.etag !== etag) {
      throw aborted(`this ${noun} has changed since; its etag is now ${current.etag}. Read it again, then repeat`);
    }
    return current;
  }

  return {
    get,

    async create(caller, content, { companyManaged, acl, requestId }) {
      if (companyManaged && !caller.admin) {
        throw permissionDenied(`only administrators create company-managed ${noun}s; leave company_managed out`);
      }
      if (companyManaged && acl.length > 0) throw invalidArgument(OPEN_ALREADY);
      const owner = companyManaged ? "" : caller.id;
      const id = uuid();
      const now = new Date();
      const ownership = { origin: companyManaged ? "company" : "user", owner, acl } as const;
      const record = {
        _id: id,
        ...content,
        ...ownership,
        access: accessOf(ownership),
        etag: newEtag(),
        request: requestId === "" ? id : `${caller.id}:${requestId}`,
        created_at: now,
        updated_at: now,
      };
      try {
        await collection.insertOne(record as unknown as OptionalUnlessRequiredId<T>);
        return record as unknown as T;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const earlier = await collection.findOne(where({ owner, request: record.request }));
        if (earlier === null) throw aborted(`the ${noun} of this request_id was deleted meanwhile; repeat the call`);
        return earlier;
      }
    },

    async list(caller, { search, tags, origin, pageSize, pageToken, without }) {
      const found = {
        ...filterOf(caller, "read"),
        ...(origin !== undefined && { origin }),
        ...(tags.length > 0 && { tags: { $all: tags } }),
        ...(search !== "" && { $or: [{ name: textOf(search) }, { description: textOf(search) }] }),
      };
      const after = positionOf(pageToken);
      const page = after === undefined ? found : { ...found, _id: { $lt: after } };
      const projection = Object.fromEntries(without.map((field) => [field, 0]));
      const [items, totalSize] = await Promise.all([
        collection.find(where(page), { sort: { _id: -1 }, limit: pageSize + 1, projection }).toArray(),
        collection.countDocuments(where(found)),
      ]);
      const more = items.length > pageSize;
      if (more) items.pop();
      return { items, nextPageToken: more ? pageTokenOf(items.at(-1)!._id) : "", totalSize };
    },

    async update(caller, id, etag, action, change) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const current = await open(caller, id, etag, action);
        const changes = { ...(await change(current)), etag: newEtag(), updated_at: new Date() };
        const update = { $set: changes } as unknown as UpdateFilter<T>;
        const filter = where({ _id: id, etag: current.etag, ...filterOf(caller, action) });
        const next = await collection.findOneAndUpdate(filter, update, { returnDocument: "after" });
        if (next !== null) return next;
      }
      throw aborted(`others are changing this ${noun} at the same time; repeat the call`);
    },

    async remove(caller, id, etag, check) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const current = await open(caller, id, etag, "delete");
        await check?.(current);
        const filter = where({ _id: id, etag: current.etag, ...filterOf(caller, "delete") });
        if ((await collection.deleteOne(filter)).deletedCount === 1) return;
      }
      throw aborted(`others are changing this ${noun} at the same time; repeat the call`);
    },
  };
}

/** Company-managed objects have no sharing of their own. */
export const OPEN_ALREADY = "what is company-managed is open to everyone already and cannot be shared otherwise";

function refusalOf({ origin }: ObjectRecord, action: Action, noun: string): string {
  if (origin === "builtin")
    return `built-in ${noun}s are read-only for everyone; make your own with create_${noun} instead`;
  if (origin === "company") return `company-managed ${noun}s are read-only for everyone but administrators`;
  if (action === "modify") return `this ${noun} is shared with you to view; its owner can give you the config tier`;
  const done = action === "share" ? "sharing" : "deleting";
  return `${done} this ${noun} needs the manage tier, which its owner can give you`;
}

function newEtag(): string {
  return randomBytes(9).toString("base64url");
}

function textOf(search: string): { $regex: string; $options: string } {
  return { $regex: search.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), $options: "i" };
}
