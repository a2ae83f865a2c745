import type { Tool } from "../../services/shared/tools/tools.js";

// The verbs of docs/api-style.md, "Verbs", as far as a program can hold tools to them.

interface Verb {
  readonly reads: boolean;
  /** Whether such tools are marked destructive; some are if left out. */
  readonly destructive?: boolean;
  /** Whether they take page_size; some do if left out. */
  readonly paged?: boolean;
}

const READS: Verb = { reads: true, destructive: false, paged: false };
const WRITES: Verb = { reads: false, destructive: false, paged: false };
const DESTROYS: Verb = { reads: false, destructive: true, paged: false };

/** What a tool's name may begin with. */
export const VERBS: Readonly<Record<string, Verb>> = {
  add: WRITES,
  apply: WRITES,
  attach: WRITES,
  check: READS,
  count: READS,
  create: WRITES,
  delete: DESTROYS,
  duplicate: WRITES,
  find: READS,
  get: { reads: true, destructive: false },
  inspect: { reads: true, destructive: false },
  launch: DESTROYS,
  list: { reads: true, destructive: false },
  load: READS,
  lookup: READS,
  merge: DESTROYS,
  promote: WRITES,
  read: READS,
  relaunch: DESTROYS,
  remove: DESTROYS,
  render: READS,
  reset: DESTROYS,
  schedule: DESTROYS,
  search: { reads: true, destructive: false },
  set: { reads: false, paged: false },
  test: WRITES,
  trigger: WRITES,
  update: WRITES,
  upload: WRITES,
  whoami: READS,
};

/** Tools that show one object together with a page of its parts. */
const WITH_PARTS = new Set(["aev/get_asset_group", "grc/get_framework_tree"]);

/** Where a tool is not what its verb says. */
export function* verbProblemsOf({ server, name, method, readOnly, listing }: Tool): Iterable<string> {
  const word = name.split("_")[0] as string;
  const verb = VERBS[word];
  if (verb === undefined) {
    yield `begins with ${word}, which is no verb of docs/api-style.md`;
    return;
  }
  if (verb.reads && !readOnly) yield "is named like a read and has side effects";
  if (!verb.reads && readOnly) yield "is named like a write and has no side effects";
  const isDestructive = listing.annotations.destructiveHint === true;
  if (verb.destructive === true && !isDestructive) yield "deletes and does not say so";
  if (verb.destructive === false && isDestructive) yield `is marked destructive, which ${word} does not say`;
  const isPaged = method.input.field.pageSize !== undefined;
  if (isPaged && (verb.paged === false || (word === "get" && !WITH_PARTS.has(`${server}/${name}`))))
    yield `answers pages, which ${word} does not say`;
  if (word === "list" && !/s(_of_[a-z]+)?$|_(evidence|malware)$/.test(name))
    yield "lists something that is not in the plural";
}
